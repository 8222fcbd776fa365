// Words for names and numbers, as a reader expects them.

export const spaced = (name) => name.replaceAll("_", " ");
export const whole = (count) => count.toLocaleString("en");
export const seconds = (number) => `${number.toLocaleString("en", { maximumFractionDigits: number < 10 ? 2 : 0 })} s`;
export const counted = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

// Values come as numbers, or as words where JSON has no number for them ("nan"), or not at all.
export function rounded(value, digits) {
  if (value === null || value === undefined) return "-";
  return typeof value === "number" ? String(Number(value.toPrecision(digits))) : String(value);
}
