// The argument space of ops: how many levels of each axis the tensors of a run have reached, and for an op that is
// opened the cells: which dtypes with which ranks, layouts and values.

import { button, code, el, paragraph, table, wideTable } from "./elements.js";
import { section } from "./section.js";
import { counted, spaced, whole } from "./words.js";

// The axes whose levels are columns of an opened op's cells; its rows are dtypes.
const ACROSS = ["rank", "layout", "values"];
// A cell begins with a number for each axis, in this order; values are a list of them.
const PLACES = { dtype: 0, rank: 1, layout: 2, values: 3 };
const PHASES = 4;

const levelsOf = (cell, axis) => [cell[PLACES[axis]]].flat();

// The best that became of a level or a cell, as the counts of some cells tell it: a number of compared tensors, a word,
// or null.
function reach(space, cells) {
  const count = (name) => cells.reduce((sum, cell) => sum + cell[PHASES + space.counts.indexOf(name)], 0);
  return count("eager_forward") || ["unsupported", "refused"].find(count) || null;
}

// The levels of an axis by what became of them: {reached: [...], unsupported: [...], refused: [...], never: [...]}.
function statesOf(space, cells, axis) {
  const states = { reached: [], unsupported: [], refused: [], never: [] };
  space.axes[axis].forEach((level, number) => {
    const found = reach(space, cells.filter((cell) => levelsOf(cell, axis).includes(number)));
    states[typeof found === "number" ? "reached" : found ?? "never"].push(level);
  });
  return states;
}

const reachedOn = (space, cells, axis) =>
  axis === "phases" ? phasesOf(space, cells) : statesOf(space, cells, axis);

function phasesOf(space, cells) {
  const states = { reached: [], unsupported: [], refused: [], never: [] };
  space.counts.slice(0, space.counts.indexOf("refused")).forEach((phase, number) => {
    states[cells.some((cell) => cell[PHASES + number]) ? "reached" : "never"].push(spaced(phase));
  });
  return states;
}

// The table of some ops; those in `opened` show their cells, flip(op) opens and closes one.
export function spaceParts(space, ops, opened, flip) {
  const caption = "Argument space: levels that the tensors of each op have reached";
  const axes = [...Object.keys(PLACES), "phases"];
  const head = [["op"], ["tests", "number"], ...axes.map((axis) => [axis]), ["laid out", "number"], ["pairs"]];
  const rows = ops.flatMap(([op, tests, laidOut, cells]) => {
    const isOpen = opened.has(op);
    const name = button(code(op), () => flip(op), { "aria-expanded": String(isOpen) });
    const row = el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, whole(tests)),
      axes.map((axis) => (cells.length ? share(reachedOn(space, cells, axis)) : el("td", { class: "soft" }, "-"))),
      el("td", { class: "number" }, whole(laidOut.cases)),
      el("td", {}, laidOut.pairs ? `${whole(laidOut.covered)} of ${whole(laidOut.pairs)}` : "-"));
    return isOpen ? [row, el("tr", {}, el("td", { colspan: head.length }, cellMaps(space, cells)))] : [row];
  });
  const sentence = "What PyTorch refuses is not counted as missing; open an op to see the cells.";
  return [el("h2", {}, caption), paragraph("soft", sentence), wideTable(caption, head, el("tbody", {}, rows))];
}

// "9 of 11", and which are missing as its title; what the reference refuses is none that could be reached.
function share(states) {
  const { reached, refused, unsupported, never } = states;
  const all = reached.length + unsupported.length + never.length;
  const missing = [["never", never], ["the target lacks", unsupported], ["PyTorch refuses", refused]];
  const told = missing.filter(([, levels]) => levels.length).map(([words, levels]) => `${words}: ${levels.join(", ")}`);
  const isWhole = reached.length === all;
  return el("td", { class: isWhole ? "soft" : null, title: told.join("; ") || null }, `${reached.length} of ${all}`);
}

export function cellMaps(space, cells) {
  if (!cells.length) return paragraph("say", "No tensor was drawn for it.");
  const maps = ACROSS.map((axis) => section(`dtype by ${axis}`, cellMap(space, cells, axis)));
  return el("div", { class: "detail cells" }, maps);
}

function cellMap(space, cells, axis) {
  const rows = space.axes.dtype.map((dtype, row) => {
    const own = cells.filter((cell) => levelsOf(cell, "dtype")[0] === row);
    const found = space.axes[axis].map((_, level) => own.filter((cell) => levelsOf(cell, axis).includes(level)));
    return [dtype, ...found.map((those) => mapCell(space, those))];
  });
  return table(["", ...space.axes[axis]], rows);
}

function mapCell(space, cells) {
  const found = reach(space, cells);
  if (typeof found !== "number") return el("span", { class: "soft" }, found ?? "-");
  const phases = space.counts.slice(0, space.counts.indexOf("refused"));
  const told = phases.map((phase, number) => {
    const count = cells.reduce((sum, cell) => sum + cell[PHASES + number], 0);
    return `${spaced(phase)} ${whole(count)}`;
  });
  return el("span", { title: `${counted(found, "tensor")}: ${told.join(", ")}` }, whole(found));
}
