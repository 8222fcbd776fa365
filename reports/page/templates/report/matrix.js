// The view of ops by phases: each cell has the worst outcome and its share of the cases.

import { VIEWS, noFilters, writeHash } from "./address.js";
import { button, byId, code, el, openTable, paragraph } from "./elements.js";
import { matchDivergence, matchOp } from "./matching.js";
import { CELL_OUTCOMES, isQuiet, worstIn } from "./outcomes.js";
import { Sorting } from "./sorting.js";
import { counted, spaced, whole } from "./words.js";

const ALIGNED = CELL_OUTCOMES.indexOf("aligned");

export class Matrix {
  #run;
  #navigation;
  #form;
  #paging;
  #view = byId("view-matrix");
  #isUnfolded = false;
  #sorting;

  constructor({ run, navigation, form, paging }) {
    this.#run = run;
    this.#navigation = navigation;
    this.#form = form;
    this.#paging = paging;
    this.#sorting = new Sorting(() => navigation.redraw());
  }

  draw({ filters }) {
    const matching = this.#run.ops.filter(matchOp(this.#run, filters));
    const calm = matching.filter((row) => this.#worstOf(row) >= ALIGNED);
    // What is aligned is folded only where something else is worth a look, and no filter asks for it by name.
    const canFold = calm.length < matching.length && filters.level !== "aligned";
    const isFolded = canFold && !this.#isUnfolded;
    const shown = isFolded ? matching.filter((row) => this.#worstOf(row) < ALIGNED) : matching;
    this.#form.tell(`${whole(shown.length)} of ${counted(this.#run.ops.length, "op")} shown`);
    const phases = this.#run.phases.filter((phase) => !filters.phase || phase === filters.phase);
    const sorted = this.#sorting.apply(shown, (row, column) => sortKey(row, phases[column]));
    const [rows, more] = this.#paging.page(sorted, (row) => this.#row(row, phases));
    this.#view.replaceChildren(...[
      shown.length ? this.#table(phases, rows) : paragraph("say", "No op matches the filters."),
      more,
      canFold && calm.length ? this.#foldButton(calm, isFolded) : null,
    ].filter(Boolean));
  }

  #table(phases, rows) {
    const caption = "The worst outcome of each op in each phase, and its share of the cases";
    const head = [
      this.#sorting.head("op", "op"), ...phases.map((phase, column) => this.#sorting.head(spaced(phase), column)),
    ];
    return openTable(caption, head, el("tbody", {}, rows), phases.length > 6);
  }

  #worstOf(row) {
    return Math.min(...this.#run.phases.map((phase) => worstIn(row.cells[phase])));
  }

  #foldButton(calm, isFolded) {
    const aligned = calm.filter((row) => this.#worstOf(row) === ALIGNED).length;
    const unchecked = calm.length - aligned;
    const words = [
      aligned ? `${counted(aligned, "op")} aligned in every phase checked` : "",
      unchecked ? `${counted(unchecked, "op")} checked in no phase` : "",
    ].filter(Boolean).join(", ");
    const flip = () => {
      this.#isUnfolded = isFolded;
      this.#navigation.redraw();
    };
    const attributes = { class: "more", "aria-expanded": String(!isFolded) };
    return button(`${isFolded ? "Show" : "Hide"} ${words}`, flip, attributes);
  }

  #row(row, phases) {
    const href = writeHash({ view: "op", filters: { ...noFilters(), op: row.op }, all: false, open: new Set() });
    const name = el("a", { href }, code(row.op));
    return el("tr", {}, el("th", { scope: "row" }, name), phases.map((phase) => this.#cell(row, phase)));
  }

  #cell(row, phase) {
    const { outcome, share, title } = cellWords(row.cells[phase]);
    if (outcome === null) return el("td", { class: "soft", title }, "-");
    const content = [el("b", {}, outcome), " ", el("span", {}, share)];
    const isLinked = this.#run.divergencesOf(row.op).some((divergence) => divergence.phase === phase);
    return el("td", { class: `outcome ${outcome}`, title },
      isLinked ? button(content, () => this.#showDivergences(row.op, phase)) : content);
  }

  #showDivergences(op, phase) {
    const filters = { ...noFilters(), op, phase };
    const found = this.#run.divergences.filter(matchDivergence(this.#run, filters));
    this.#navigation.go({ view: VIEWS[0], filters, open: new Set(), all: found.every(isQuiet) });
    byId("tab-divergences").focus();
  }
}

// By name where the column is that of no phase; else by the worst outcome there, then by its share of the cases.
function sortKey(row, phase) {
  if (phase === undefined) return row.op;
  const cell = row.cells[phase] ?? [];
  const worst = worstIn(cell);
  const checked = cell.slice(0, CELL_OUTCOMES.length).reduce((total, count) => total + count, 0);
  return checked ? cell[worst] / checked - 2 * worst : -2 * CELL_OUTCOMES.length;
}

// What a cell says: "wrong" with the share "3 of 20" or "all 20", and all counts as its title; no outcome where none
// of its cases was checked in this phase.
export function cellWords(cell = []) {
  const checked = cell.slice(0, CELL_OUTCOMES.length).reduce((total, count) => total + count, 0);
  const unchecked = cell[CELL_OUTCOMES.length];
  const never = unchecked ? `${counted(unchecked, "case")} not checked here` : null;
  if (!checked) return { outcome: null, share: null, title: never };
  const worst = worstIn(cell);
  const outcome = CELL_OUTCOMES[worst];
  const every = outcome === "aligned" ? whole(checked) : `all ${whole(checked)}`;
  const share = cell[worst] === checked ? every : `${whole(cell[worst])} of ${whole(checked)}`;
  const told = cell.map((count, number) => `${whole(count)} ${CELL_OUTCOMES[number] ?? "not checked"}`);
  return { outcome, share, title: told.filter((_, number) => cell[number]).join(", ") };
}
