// The axis of a plot's numbers: where each stands, and which are written beside it.

const MOST_TICKS = 6;
// Where the largest is so many times what is usual, what is usual would lie in one line.
const HUGE = 1000;

// Places run from 0 to 1. The axis is linear; where some numbers are huge beside the others it is logarithmic but
// around zero, so that numbers of either sign have a place.
export class Axis {
  constructor(numbers) {
    const sizes = numbers.map(Math.abs).filter(Boolean).sort((one, other) => one - other);
    const largest = sizes.at(-1) ?? 0;
    const usual = Math.max(sizes[(sizes.length - 1) >> 1] ?? 1, largest / 1e300);
    const [low, high] = widened(Math.min(...numbers), Math.max(...numbers));
    this.usual = usual;
    this.isLogarithmic = largest > HUGE * usual;
    // Halves: the distance between the least and the greatest number there is would be none.
    this.bend = this.isLogarithmic ? (number) => Math.asinh(number / usual) : (number) => number / 2;
    this.ticks = this.isLogarithmic ? powers(low, high, usual) : steps(low, high);
    const bent = [low, high, ...this.ticks.map(([, number]) => number)].map(this.bend);
    [this.from, this.to] = [Math.min(...bent), Math.max(...bent)];
  }

  place(number) {
    return (this.bend(number) - this.from) / (this.to - this.from);
  }
}

// What is all one number, or none at all, has room above and below.
function widened(low, high) {
  if (low > high) return [0, 1];
  const room = low === high ? Math.abs(low) / 10 || 1 : 0;
  return [low - room, high + room];
}

// Even steps of 1, 2 or 5 around all numbers, in the fewest digits that tell them apart:
// [["0.1", 0.1], ["0.15", 0.15], ["0.2", 0.2]].
function steps(low, high) {
  const rough = high / (MOST_TICKS - 1) - low / (MOST_TICKS - 1);
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * [1, 2, 5, 10].find((times) => ten * times >= rough);
  // A number upon a step may have been divided to one beside it.
  const [first, last] = [Math.floor(low / step + 1e-6), Math.ceil(high / step - 1e-6)];
  const digits = Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 2;
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const number = Number(((first + index) * step).toPrecision(Math.min(digits, 17)));
    return [String(number), number];
  }).filter(([, number]) => Number.isFinite(number));
}

// Powers of ten beyond what is usual, from the greatest down, and zero; with the signs that numbers have.
function powers(low, high, usual) {
  const power = (number) => Math.floor(Math.log10(number));
  const [least, most] = [power(usual) + 1, power(Math.max(-low, high))];
  const every = Math.ceil((most - least + 1) / (low < 0 && high > 0 ? MOST_TICKS / 2 : MOST_TICKS));
  const names = [];
  for (let at = most; at >= least; at -= every) names.unshift(Math.abs(at) < 5 ? String(Number(`1e${at}`)) : `1e${at}`);
  return [...names.map((name) => `-${name}`).reverse(), "0", ...names]
    .map((name) => [name, Number(name)])
    .filter(([, number]) => number >= low && number <= high);
}
