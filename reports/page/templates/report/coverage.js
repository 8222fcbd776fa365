// The view of coverage: what of their argument space the ops have reached, with which dtypes they were checked, and
// which were not touched. Its file is read when the view is first opened.

import { byId, code, el, failure, folded, list, paragraph, svg, wideTable } from "./elements.js";
import { matchName, matchWords } from "./matching.js";
import { spaceParts } from "./space.js";
import { counted, spaced, whole } from "./words.js";

const KEY = "coverage";

export class Coverage {
  #run;
  #navigation;
  #form;
  #paging;
  #files;
  #view = byId("view-coverage");
  #isLoading = false;
  // The ops whose cells are shown.
  #opened = new Set();

  constructor({ run, navigation, form, paging, files }) {
    this.#run = run;
    this.#navigation = navigation;
    this.#form = form;
    this.#paging = paging;
    this.#files = files;
  }

  draw({ filters }) {
    const coverage = this.#files.received(KEY);
    this.#form.tell("");
    if (coverage) this.#view.replaceChildren(...this.#content(coverage, filters));
    else if (!this.#isLoading) this.#load();
  }

  #load() {
    this.#isLoading = true;
    this.#files.load("coverage.js", KEY, (coverage, sentence) => {
      this.#isLoading = false;
      if (coverage) this.#navigation.redraw();
      else this.#view.replaceChildren(failure(sentence));
    });
  }

  #content({ phases, ops, registry, untested, space }, filters) {
    const hasWords = matchWords(filters.text);
    const hasOp = matchName(filters.op, this.#run.names.op);
    const isWanted = (op, dtype) => hasOp(op) && hasWords(() => `${op} ${dtype}`.toLowerCase());
    const shown = ops
      .map(([op, dtypes]) => [op, Object.entries(dtypes).filter(([dtype]) => isWanted(op, dtype))])
      .filter(([, dtypes]) => dtypes.length);
    this.#form.tell(`${whole(shown.length)} of ${counted(ops.length, "op")} shown`);
    // Columns are the places of the phases in each list of counts.
    const columns = [...phases.keys()].filter((column) => !filters.phase || phases[column] === filters.phase);
    const [bodies, more] = this.#paging.page(shown, ([op, dtypes]) => opBody(op, dtypes, columns));
    const caption = "Checked cases by op, dtype and phase";
    const head = [["op"], ["dtype"], ...columns.map((column) => [spaced(phases[column]), "number"])];
    const nothing = ops.length ? "No op matches the filters." : "No case was checked.";
    return [
      ...(registry ? registryParts(registry, this.#run.target, hasWords) : []),
      ...(untested?.length ? untestedParts(untested, this.#run.target, hasWords) : []),
      ...this.#space(space, (op) => hasOp(op) && hasWords(() => op.toLowerCase())),
      el("h2", {}, caption),
      shown.length ? wideTable(caption, head, bodies) : paragraph("say", nothing),
      more,
    ].filter(Boolean);
  }

  #space(space, isWanted) {
    const wanted = space.ops.filter(([op]) => isWanted(op));
    if (!wanted.length) return [];
    const flip = (op) => {
      if (!this.#opened.delete(op)) this.#opened.add(op);
      this.#navigation.redraw();
    };
    const [shown, more] = this.#paging.page(wanted, (op) => op);
    return [...spaceParts(space, shown, this.#opened, flip), more];
  }
}

// One op: its name beside a row for each dtype.
function opBody(op, dtypes, columns) {
  const name = el("th", { scope: "rowgroup", rowspan: dtypes.length }, code(op));
  const cell = (count) => el("td", { class: count ? "number" : "number soft" }, count ? whole(count) : "-");
  const row = ([dtype, counts], place) =>
    el("tr", {}, place ? null : name, el("td", {}, code(dtype)), columns.map((column) => cell(counts[column])));
  return el("tbody", {}, dtypes.map(row));
}

// Rounded down: 100 % means all of them.
export const percentOf = (part, all) => (all ? Math.floor((part * 1000) / all) / 10 : 0);

function registryParts({ names, touched }, target, hasWords) {
  const touchedNames = new Set(touched);
  const untouched = names.filter((name) => !touchedNames.has(name));
  const hit = names.length - untouched.length;
  const percent = percentOf(hit, names.length);
  const bar = svg("svg", { class: "share", "aria-hidden": "true" },
    svg("rect", { class: "whole", width: "100%", height: "100%" }),
    svg("rect", { class: "part", width: `${percent}%`, height: "100%" }));
  const types = counted(names.length, "op type");
  const sentence = `${whole(hit)} of ${types} registered in ${target} ran in this run: ${percent} %.`;
  const never = "Registered in the target, but no program of this run executed them.";
  const rest = untouched.length ? nameParts("Untouched op types", never, untouched, hasWords) : [];
  return [el("h2", {}, "Registry"), el("p", {}, sentence), bar, ...rest];
}

function untestedParts(names, target, hasWords) {
  return nameParts("Ops that no test of this run calls", `Both torch and ${target} have them.`, names, hasWords);
}

function nameParts(title, sentence, names, hasWords) {
  const found = names.filter((name) => hasWords(() => name.toLowerCase()));
  const listed = list(found.map(code), "names");
  return [el("h2", {}, title), paragraph("soft", sentence), folded(counted(found.length, "name"), listed)];
}
