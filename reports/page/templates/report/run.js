// The run that the page is about: its ops and divergences, and what can be chosen among them.

import { CELL_OUTCOMES, LEVELS, isNew, outcomeOf } from "./outcomes.js";
import { spaced } from "./words.js";

export class Run {
  #divergencesByOp = new Map();
  #searchable = new Map();
  #lines;

  constructor({ base, root, target, phases, shapes, families, tests, places, ended, ops, divergences, more, causes, course = null }) {
    Object.assign(this, {
      base, root, target, phases, shapes, families, tests, places, ended, ops, divergences, more, causes, course,
    });
    for (const divergence of divergences) {
      if (!this.#divergencesByOp.has(divergence.op)) this.#divergencesByOp.set(divergence.op, []);
      this.#divergencesByOp.get(divergence.op).push(divergence);
    }
    const opNames = [...ops.map((row) => row.op), ...this.#divergencesByOp.keys()];
    this.names = { op: new Set(opNames.sort()), test: new Set([...tests].sort()) };
    this.choices = {
      family: [...families].sort(),
      kind: [...new Set(divergences.map(({ kind }) => kind))].sort(),
      phase: phases,
      cases: choicesOf(places),
      cause: [...new Set(causes.map(([title]) => title))].sort(),
      level: LEVELS.filter((level) => this.#has(level)),
    };
  }

  get isEmpty() {
    return !this.ops.length && !this.divergences.length;
  }

  // The family of a test by its number: its file's name without what all such files have.
  familyOf(test) {
    return this.tests[test].split("::")[0].split("/").at(-1).replace(/^test_/, "").replace(/\.py$/, "");
  }

  divergencesOf(op) {
    return this.#divergencesByOp.get(op) ?? [];
  }

  // All that a search looks through, made when it is first asked for.
  searchable(divergence) {
    if (!this.#searchable.has(divergence)) {
      const { id, fingerprint, op, phase, message } = divergence;
      const tests = divergence.tests.map((number) => this.tests[number]);
      const texts = [id, fingerprint, op, spaced(phase), message, ...tests];
      this.#searchable.set(divergence, texts.join("\n").toLowerCase());
    }
    return this.#searchable.get(divergence);
  }

  // The first line of a test by its name, null where that is not known.
  lineOf(name) {
    this.#lines ??= new Map(this.tests.map((test, number) => [test, this.ended[number][2]]));
    return this.#lines.get(name) ?? null;
  }

  // How many cases of a test, by its number, are in a segment, in all of its ways or in one: "known", "known wrong".
  casesOf(test, segment) {
    const [, , , counts] = this.ended[test];
    const isThere = (place) => place === segment || place.startsWith(`${segment} `);
    return counts.reduce((total, count, place) => total + (isThere(this.places[place]) ? count : 0), 0);
  }

  // The segments that have cases, in the order in which they are told.
  get segments() {
    return [...new Set(this.places.map(segmentOf))];
  }

  #has(level) {
    if (level === "new") return this.divergences.some(isNew);
    const column = CELL_OUTCOMES.indexOf(level);
    return this.divergences.some((divergence) => outcomeOf(divergence) === level) ||
      this.ops.some((row) => Object.values(row.cells).some((cell) => cell[column] > 0));
  }
}

const segmentOf = (place) => place.split(" ")[0];

// A segment as a whole stands before each of its ways.
function choicesOf(places) {
  return [...new Set(places.flatMap((place) => [segmentOf(place), place]))];
}
