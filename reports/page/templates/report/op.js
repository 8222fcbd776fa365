// The page of one op: what was checked of it, how it diverges, its tests, and its largest errors.

import { VIEWS, noFilters, writeHash } from "./address.js";
import { byId, code, el, failure, list, paragraph, scrollBox, soft, table } from "./elements.js";
import { cellWords } from "./matrix.js";
import { CELL_OUTCOMES, outcomeOf, worstIn } from "./outcomes.js";
import { cellMaps } from "./space.js";
import { counted, seconds, spaced, whole } from "./words.js";

const KEY = "coverage";

export class OpPage {
  #run;
  #editor;
  #navigation;
  #form;
  #files;
  #view = byId("view-op");

  constructor({ run, navigation, form, files, editor }) {
    this.#editor = editor;
    this.#run = run;
    this.#navigation = navigation;
    this.#form = form;
    this.#files = files;
  }

  draw({ filters: { op } }) {
    this.#form.tell("");
    const row = this.#run.ops.find((other) => other.op === op);
    const divergences = this.#run.divergencesOf(op);
    const back = el("a", { href: `#view=${VIEWS[0]}` }, "All ops");
    if (!row && !divergences.length) {
      this.#view.replaceChildren(back, paragraph("say", `This run has no op ${op}.`));
      return;
    }
    const reached = el("div", {});
    this.#view.replaceChildren(...[
      el("p", {}, back),
      el("h2", { class: "op-title" }, code(op)),
      row ? phaseTable(row, this.#run.phases) : null,
      courseOf(this.#run.course, op),
      ...divergenceParts(divergences),
      ...errorParts(divergences),
      reached,
      ...(row ? testParts(this.#run, row, this.#editor) : []),
    ].filter(Boolean));
    this.#fill(reached, op);
  }

  // Its dtypes and cells are in the file of the view of coverage.
  #fill(place, op) {
    const fill = (coverage, sentence) => {
      if (this.#navigation.choice.filters.op !== op) return;
      place.replaceChildren(...(coverage ? reachedParts(coverage, op) : [failure(sentence)]));
    };
    this.#files.load("coverage.js", KEY, fill);
  }
}

// How many divergences the op had in each kept run of this selection, where there is more than this one.
function courseOf(course, op) {
  const counts = course?.ops[op];
  if (!counts) return null;
  return el("div", { class: "course" }, "Divergences, run by run: ", list(counts.map(whole), "steps"),
    soft(` ${course.runs[0]} to this run`));
}

function phaseTable(row, phases) {
  const checked = phases.filter((phase) => row.cells[phase] !== undefined);
  const cells = checked.map((phase) => {
    const cell = row.cells[phase];
    const { outcome, share } = cellWords(cell);
    const words = outcome === null ? soft("not checked") : [el("b", {}, outcome), ` ${share}`];
    const numbers = [...CELL_OUTCOMES.keys(), CELL_OUTCOMES.length].map((place) => cell[place] ?? 0);
    return el("tr", {}, el("th", { scope: "row" }, spaced(phase)),
      el("td", { class: `outcome ${CELL_OUTCOMES[worstIn(cell)] ?? "not_checked"}` }, words),
      numbers.map((count) => el("td", { class: count ? "number" : "number soft" }, count ? whole(count) : "-")));
  });
  const head = ["phase", "worst", ...CELL_OUTCOMES, "not checked"].map((name, place) =>
    el("th", { scope: "col", class: place > 1 ? "number" : null }, name));
  return scrollBox("Cases by phase", el("table", { class: "of-op" },
    el("caption", {}, "Cases by phase and outcome"), el("thead", {}, el("tr", {}, head)), el("tbody", {}, cells)));
}

const hrefOf = (id) => writeHash({ view: VIEWS[0], filters: noFilters(), all: false, open: new Set([id]) });

// What diverges in one phase and one kind is one cause, as far as records tell.
function divergenceParts(divergences) {
  if (!divergences.length) return [el("h2", {}, "Divergences"), paragraph("say", "No divergence.")];
  const causes = new Map();
  for (const divergence of divergences) {
    const cause = `${spaced(divergence.kind)}, ${spaced(divergence.phase)}`;
    if (!causes.has(cause)) causes.set(cause, []);
    causes.get(cause).push(divergence);
  }
  const parts = [...causes].map(([cause, found]) => [
    el("h3", {}, cause, " ", soft(whole(found.length))),
    list(found.map((divergence) => divergenceLine(divergence)), "of-op-rows"),
  ]);
  return [el("h2", {}, counted(divergences.length, "divergence")), ...parts.flat()];
}

function divergenceLine({ id, level, kind, fingerprint, message, cases }) {
  const outcome = outcomeOf({ level, kind });
  const facts = fingerprint.split("/").slice(4).join("/");
  return [el("span", { class: `badge ${outcome}` }, el("b", {}, outcome)), " ",
    el("a", { href: hrefOf(id) }, code(facts || fingerprint)), " ", soft(counted(cases, "case")),
    el("p", { class: "message" }, message)];
}

// The largest error of each dtype among the elements that were kept of its divergences.
function errorParts(divergences) {
  const largest = new Map();
  for (const { id, ulp, dtype } of divergences) {
    if (ulp !== undefined && !(largest.get(dtype)?.[0] >= ulp)) largest.set(dtype, [ulp, id]);
  }
  if (!largest.size) return [];
  const rows = [...largest].sort(([one], [other]) => one.localeCompare(other)).map(([dtype, [ulp, id]]) => [
    code(dtype), whole(ulp),
    el("a", { href: hrefOf(id) }, code(id)),
  ]);
  return [el("h2", {}, "Largest error in ULP, by dtype"),
    scrollBox("Largest errors", table(["dtype", "ULP", "divergence"], rows, "of-op"))];
}

function reachedParts({ phases, ops, space }, op) {
  const [, dtypes] = ops.find(([name]) => name === op) ?? [op, {}];
  const rows = Object.entries(dtypes).map(([dtype, counts]) =>
    [code(dtype), ...counts.map((count) => (count ? whole(count) : soft("-")))]);
  const [, , , cells] = space.ops.find(([name]) => name === op) ?? [];
  return [
    rows.length ? el("h2", {}, "Cases by dtype and phase") : null,
    rows.length ? scrollBox("Dtypes", table(["dtype", ...phases.map(spaced)], rows, "of-op numbers")) : null,
    cells?.length ? el("h2", {}, "Cells reached") : null,
    cells?.length ? scrollBox("Cells reached", cellMaps(space, cells)) : null,
  ].filter(Boolean);
}

function testParts(run, row, editor) {
  const rows = row.tests.map((test) => {
    const [outcome, took, line] = run.ended[test];
    const name = run.tests[test];
    const source = line === null ? soft("-") : [code(`${name.split("::")[0]}:${line}`), " ", editor.link(name, line)];
    return [code(name), source, outcome ?? "did not end", ...run.segments.map((segment) => {
      const count = run.casesOf(test, segment);
      return count ? whole(count) : soft("-");
    }), took === null ? soft("-") : seconds(took)];
  });
  const head = ["test", "source", "ended", ...run.segments, "took"];
  return [el("h2", {}, counted(rows.length, "test")), paragraph("soft", "With all of their cases, also of other ops."),
    scrollBox("Tests", table(head, rows, "of-op"))];
}
