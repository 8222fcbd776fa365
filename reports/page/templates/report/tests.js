// The view of tests: how each ended, and how many of its cases are in each segment.

import { VIEWS, noFilters, writeHash } from "./address.js";
import { byId, code, el, openTable, paragraph, soft } from "./elements.js";
import { matchName, matchWords } from "./matching.js";
import { Sorting } from "./sorting.js";
import { counted, seconds, whole } from "./words.js";

// Those that one looks for first.
const LOUD = ["new", "stricter", "known", "counted", "undecidable", "skipped"];
const OUTCOMES = ["failed", null, "skipped", "passed"];

export class Tests {
  #run;
  #editor;
  #form;
  #paging;
  #view = byId("view-tests");
  #sorting;
  #ordered;
  #diverging;

  constructor({ run, navigation, form, paging, editor }) {
    this.#run = run;
    this.#editor = editor;
    this.#form = form;
    this.#paging = paging;
    this.#sorting = new Sorting(() => navigation.redraw());
  }

  draw({ filters }) {
    const run = this.#run;
    this.#ordered ??= worstFirst(run);
    this.#diverging ??= new Set(run.divergences.flatMap(({ tests }) => tests));
    const hasName = matchName(filters.test, run.names.test);
    const hasWords = matchWords(filters.text);
    const matching = this.#ordered.filter((test) =>
      hasName(run.tests[test]) &&
      hasWords(() => run.tests[test].toLowerCase()) &&
      (!filters.family || run.familyOf(test) === filters.family) &&
      (!filters.cases || run.casesOf(test, filters.cases) > 0));
    const columns = filters.cases ? [filters.cases] : run.segments;
    this.#form.tell(this.#tally(matching, filters.cases));
    const sorted = this.#sorting.apply(matching, (test, column) => this.#key(test, column, columns));
    const [rows, more] = this.#paging.page(sorted, (test) => this.#row(test, columns));
    const caption = "The tests, and their cases by segment";
    const head = [
      this.#sorting.head("test", "test"), this.#sorting.head("ended", "ended"),
      ...columns.map((segment, column) => this.#sorting.head(segment, column, "number")),
      this.#sorting.head("took", columns.length, "number"),
    ];
    this.#view.replaceChildren(...[
      rows.length ? openTable(caption, head, el("tbody", { class: "stacks" }, rows), columns.length > 7) :
        paragraph("say", run.tests.length ? "No test matches the filters." : "No test ran."),
      more,
    ].filter(Boolean));
  }

  #tally(tests, segment) {
    if (!segment) return `${whole(tests.length)} of ${counted(this.#run.tests.length, "test")} shown`;
    const cases = tests.reduce((total, test) => total + this.#run.casesOf(test, segment), 0);
    return `${counted(cases, `${segment} case`)} of ${counted(tests.length, "test")} shown`;
  }

  #key(test, column, columns) {
    const [outcome, took] = this.#run.ended[test];
    if (column === "test") return this.#run.tests[test];
    if (column === "ended") return outcome ?? "did not end";
    return column < columns.length ? this.#run.casesOf(test, columns[column]) : took ?? 0;
  }

  #row(test, columns) {
    const name = this.#run.tests[test];
    const [outcome, took, line] = this.#run.ended[test];
    const found = { view: VIEWS[0], filters: { ...noFilters(), test: name }, all: true, open: new Set() };
    const shown = this.#diverging.has(test) ? el("a", { href: writeHash(found) }, code(name)) : code(name);
    const place = line === null ? null : `${name.split("::")[0]}:${line}`;
    return el("tr", {},
      el("th", { scope: "row", title: place }, shown, " ", this.#editor.link(name, line)),
      el("td", { class: outcome === "failed" || outcome === null ? "fails" : "soft" }, outcome ?? "did not end"),
      columns.map((segment) => numberCell(segment, this.#run.casesOf(test, segment))),
      el("td", { class: "number", "data-name": "took" }, took === null ? soft("-") : seconds(took)));
  }
}

// Where there is no room for columns, each number says itself what it is of, and those that are 0 are not shown.
const numberCell = (segment, count) =>
  el("td", { class: count ? "number" : "number soft none", "data-name": segment }, count ? whole(count) : "-");

// The numbers of all tests: those that failed first, then those with most cases in the segments that are looked at.
function worstFirst(run) {
  const segments = LOUD.filter((segment) => run.segments.includes(segment));
  const keys = run.tests.map((_, test) => [
    -OUTCOMES.indexOf(run.ended[test][0]), ...segments.map((segment) => run.casesOf(test, segment)),
  ]);
  const compare = (one, other) => keys[one].reduce((found, key, place) => found || keys[other][place] - key, 0);
  return [...run.tests.keys()].sort((one, other) => compare(one, other) || one - other);
}
