// The map of all ops: family by family, a column of shapes for each op, a shape for each phase. Colour and shape say the
// worst outcome; what the pointer or the keyboard is on is told with its numbers, and opens the op's own page.

import { FILTERS, noFilters, writeHash } from "./address.js";
import { byId, code, el, soft, svg } from "./elements.js";
import { cellWords } from "./matrix.js";
import { matchOp } from "./matching.js";
import { CELL_OUTCOMES, worstIn } from "./outcomes.js";
import { counted, spaced } from "./words.js";

const OUTCOMES = [...CELL_OUTCOMES, "not_checked"];
// A map of more rows than this is longer than a screen.
const MOST_ROWS = 5;
// The more ops, the smaller: so many of them at most, and how wide a shape is then, in pixels.
const SIZES = [[160, 13], [420, 10], [Infinity, 8]];

export const opHref = (op) =>
  writeHash({ view: "op", filters: { ...noFilters(), op }, all: false, open: new Set() });

export class OpMap {
  #run;
  #view = byId("map");
  #columns = new Map();
  #hint = el("div", { class: "hint", hidden: true, "aria-hidden": "true" });
  #current = null;

  constructor({ run }) {
    this.#run = run;
    if (!run.ops.length) return;
    const phases = commonFirst(run);
    const rows = rowsOf(phases);
    const size = SIZES.find(([most]) => run.ops.length <= most)[1];
    const families = familiesOf(run).map(([family, ops]) => el("section", { class: "family" },
      el("h3", {}, family),
      el("div", { class: "ops" }, ops.map((row) => this.#column(row, rows.slice(0, depthOf(ops, rows)), size)))));
    const said = `${counted(run.ops.length, "op")} in ${counted(phases.length, "phase")}`;
    const named = rows.map((group) => (group.length > 1 ? `the worst of ${group.map(spaced).join(", ")}` : spaced(group[0])));
    this.#view.replaceChildren(
      el("div", { class: "map-head" },
        el("h2", {}, said), soft(`from the top: ${named.join(", ")}`), legend(run)),
      el("div", { class: "families" }, families), this.#hint);
    this.#listen();
  }

  // The map is part of the first view; the ops that its filters leave out are pale.
  sync({ view, filters }) {
    this.#view.hidden = view !== "divergences" || !this.#run.ops.length;
    this.#hint.hidden = true;
    const isFiltered = FILTERS.some((name) => filters[name]);
    const isMatching = matchOp(this.#run, filters);
    for (const [row, column] of this.#columns) column.classList.toggle("pale", isFiltered && !isMatching(row));
  }

  #column(row, rows, size) {
    const shapes = rows.map((phases, number) => {
      const outcome = worstOf(row, phases);
      return outcome && svg("path", { class: outcome, d: this.#run.shapes[outcome], transform: `translate(0 ${number * 11})` });
    });
    const height = rows.length * 11;
    const drawing = svg("svg", { viewBox: `0 0 10 ${height}`, width: size, height: (size * height) / 10 }, shapes);
    const told = numbersOf(row, this.#run.phases).map(([phase, { outcome, share }]) => `${phase} ${outcome} ${share}`).join(", ");
    const isFirst = this.#current === null;
    const attributes = { class: "op", href: opHref(row.op), "aria-label": `${row.op}: ${told || "not checked"}` };
    const column = el("a", { ...attributes, tabindex: isFirst ? "0" : "-1", "data-op": row.op }, drawing);
    this.#columns.set(row, column);
    if (isFirst) this.#current = column;
    return column;
  }

  #listen() {
    const rows = new Map([...this.#columns].map(([row, column]) => [column, row]));
    const show = ({ target }) => {
      const column = target.closest(".op");
      if (column) this.#tell(rows.get(column), column);
      else this.#hint.hidden = true;
    };
    this.#view.addEventListener("mouseover", show);
    this.#view.addEventListener("focusin", show);
    this.#view.addEventListener("mouseleave", () => (this.#hint.hidden = true));
    this.#view.addEventListener("focusout", () => (this.#hint.hidden = true));
    this.#view.addEventListener("keydown", (event) => this.#step(event));
  }

  // One op is in the order of the tab key, arrows go on from there.
  #step(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches(".op")) return;
    const columns = [...this.#view.querySelectorAll(".op")];
    const next = columns[(columns.indexOf(event.target) + step + columns.length) % columns.length];
    this.#current.tabIndex = -1;
    next.tabIndex = 0;
    this.#current = next;
    next.focus();
    event.preventDefault();
  }

  // Beside the column, within the window.
  #tell(row, column) {
    const lines = numbersOf(row, this.#run.phases).map(([phase, { outcome, share }]) => el("tr", {},
      el("th", { scope: "row" }, phase), el("td", { class: outcome }, el("b", {}, outcome), ` ${share}`)));
    this.#hint.replaceChildren(code(row.op), soft(` ${row.home}`),
      lines.length ? el("table", {}, el("tbody", {}, lines)) : el("p", {}, "checked in no phase"));
    this.#hint.hidden = false;
    const [map, place] = [this.#view.getBoundingClientRect(), column.getBoundingClientRect()];
    const right = Math.max(0, map.width - this.#hint.offsetWidth);
    this.#hint.style.left = `${Math.min(place.left - map.left, right)}px`;
    this.#hint.style.top = `${place.bottom - map.top + 4}px`;
  }
}

const outcomeIn = (cell) => OUTCOMES[worstIn(cell)] ?? "not_checked";

// The worst of an op in some phases; null where it has none of them.
function worstOf({ cells }, phases) {
  const there = phases.filter((phase) => cells[phase] !== undefined).map((phase) => outcomeIn(cells[phase]));
  return OUTCOMES.find((outcome) => there.includes(outcome)) ?? null;
}

const isChecked = (cell) => cellWords(cell).outcome !== null;

// The phases in which most ops were checked come first, so that the columns of most families are short.
function commonFirst({ phases, ops }) {
  const count = new Map(phases.map((phase) => [phase, ops.filter(({ cells }) => isChecked(cells[phase])).length]));
  return [...phases].sort((one, other) => count.get(other) - count.get(one));
}

// The phases of each row from the top: one, but for the last, which has all that few ops were checked in.
const rowsOf = (phases) => phases.length <= MOST_ROWS ? phases.map((phase) => [phase])
  : [...phases.slice(0, MOST_ROWS - 1).map((phase) => [phase]), phases.slice(MOST_ROWS - 1)];

// How many rows from the top a family's columns have: down to the last in which one of its ops was checked.
const depthOf = (ops, rows) =>
  1 + Math.max(0, rows.findLastIndex((phases) => ops.some(({ cells }) => phases.some((phase) => isChecked(cells[phase])))));

// The phases in which an op was checked, each with its worst outcome and share.
const numbersOf = (row, phases) =>
  phases.map((phase) => [spaced(phase), cellWords(row.cells[phase])]).filter(([, { outcome }]) => outcome !== null);

// The families by name, and their ops by name.
function familiesOf(run) {
  const families = new Map();
  for (const row of run.ops) {
    if (!families.has(row.home)) families.set(row.home, []);
    families.get(row.home).push(row);
  }
  for (const rows of families.values()) rows.sort((one, other) => one.op.localeCompare(other.op));
  return [...families].sort(([one], [other]) => one.localeCompare(other));
}

function legend(run) {
  const seen = new Set(run.ops.flatMap(({ cells }) => Object.values(cells).map(outcomeIn)));
  const swatch = (outcome) => el("span", {},
    svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("path", { class: outcome, d: run.shapes[outcome] })),
    spaced(outcome));
  return el("div", { class: "legend" }, OUTCOMES.filter((outcome) => seen.has(outcome)).map(swatch));
}
