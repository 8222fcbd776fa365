// Tables of values: what each side computed, and how far apart that is.

import { el, scrollBox, table } from "./elements.js";
import { fullSection, section } from "./section.js";
import { rounded, whole } from "./words.js";

// Digits that tell two float32 apart, and two float64.
const SINGLE = 9;
const DOUBLE = 17;

const wasSeen = (value) => value !== null && value !== undefined;

// Which side is wrong, and the element that shows it; how each stage did, where a target has several.
export function blameSection(blame, stages) {
  const staged = stages.length ? [scrollBox("Stages", table(["stage", "in the first case"], stages))] : [];
  return fullSection("Blame", ...(blame ? verdictParts(blame) : []), ...staged);
}

function verdictParts({ verdict, reason, worst }) {
  const words = el("p", { class: "whole" }, el("strong", {}, verdict), `: ${reason}`);
  if (!worst) return [words];
  const place = worst.index.length ? ` at [${worst.index.join(", ")}]` : "";
  const rows = [
    ["reference", rounded(worst.reference, SINGLE), ulpOff(worst.reference_ulp)],
    ["target", rounded(worst.target, SINGLE), ulpOff(worst.target_ulp)],
    ["exact, in float64", rounded(worst.exact, SINGLE), "-"],
  ];
  return [words, scrollBox("Blame", table([`side${place}`, "value", "ULP off"], rows, "numbers"))];
}

function ulpOff(ulp) {
  if (typeof ulp !== "number") return rounded(ulp, SINGLE);
  return ulp < 1000 ? rounded(ulp, 3) : whole(Math.round(ulp));
}

// Rows of name, reference, eager and graph; the graph is left out where no fact was seen in one.
export function factsSection(facts, target) {
  const hasGraph = facts.some(([, , , graph]) => wasSeen(graph));
  const head = ["fact", "reference", target, ...(hasGraph ? [`${target} graph`] : [])];
  const compared = (value, reference) => {
    const differs = value !== null && String(value) !== String(reference);
    return differs ? el("b", { class: "fails" }, `\u2260 ${value}`) : rounded(value, DOUBLE);
  };
  const rows = facts.map(([name, reference, ...seen]) => {
    const values = seen.slice(0, hasGraph ? 2 : 1);
    return [name, rounded(reference, DOUBLE), ...values.map((value) => compared(value, reference))];
  });
  return section("Facts", scrollBox("Facts", table(head, rows)));
}

export function worstSection(worst, target) {
  const hasGraph = worst.some((element) => wasSeen(element.graph));
  const targets = hasGraph ? [target, `${target} graph`] : [target];
  const head = ["index", "reference", ...targets, "absolute", "relative", "ULP"];
  const value = (number, digits) => el("span", { title: rounded(number, DOUBLE) }, rounded(number, digits));
  const rows = worst.map(({ index, reference, eager, graph, absolute, relative, ulp }) => [
    `[${index.join(", ")}]`,
    ...[reference, eager, ...(hasGraph ? [graph] : [])].map((number) => value(number, SINGLE)),
    ...[absolute, relative].map((number) => value(number, 3)),
    typeof ulp === "number" ? whole(ulp) : rounded(ulp, SINGLE),
  ]);
  return section("Worst elements", scrollBox("Worst elements", table(head, rows, "numbers")));
}
