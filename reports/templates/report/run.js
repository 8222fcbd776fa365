// The run that the page is about: its ops and divergences, and what can be chosen among them.

import { CELL_OUTCOMES, LEVELS, outcomeOf } from "./outcomes.js";
import { spaced } from "./words.js";

export class Run {
  #divergencesByOp = new Map();
  #searchable = new Map();

  constructor({ base, target, phases, families, tests, ops, divergences, more }) {
    Object.assign(this, { base, target, phases, families, tests, ops, divergences, more });
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
      level: LEVELS.filter((level) => this.#has(level)),
    };
  }

  get isEmpty() {
    return !this.ops.length && !this.divergences.length;
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

  #has(level) {
    const column = CELL_OUTCOMES.indexOf(level);
    return this.divergences.some((divergence) => outcomeOf(divergence) === level) ||
      this.ops.some((row) => Object.values(row.cells).some((cell) => cell[column] > 0));
  }
}
