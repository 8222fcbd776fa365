// What a filter lets through. Each function returns a test: matchName("add", names)("add") is true.

import { CELL_OUTCOMES, isNew, outcomeOf } from "./outcomes.js";

// A whole name means that one alone ("add" is not "addmm"); anything else is a part of a name.
export function matchName(wanted, names) {
  if (!wanted) return () => true;
  if (names.has(wanted)) return (name) => name === wanted;
  const part = wanted.toLowerCase();
  return (name) => name.toLowerCase().includes(part);
}

// Every word must be somewhere in the text, which is in lower case. It is made only where there are words to look for.
export function matchWords(wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text().includes(word));
}

function matchFamilyAndTest(run, filters) {
  const hasName = matchName(filters.test, run.names.test);
  return ({ families, tests }) =>
    (!filters.family || families.some((number) => run.families[number] === filters.family)) &&
    (!filters.test || tests.some((number) => hasName(run.tests[number])));
}

// "new" is any level that makes the run red.
const hasLevel = (divergence, level) => (level === "new" ? isNew(divergence) : outcomeOf(divergence) === level);

export function matchDivergence(run, filters) {
  const hasOp = matchName(filters.op, run.names.op);
  const hasWords = matchWords(filters.text);
  const hasFamilyAndTest = matchFamilyAndTest(run, filters);
  return (divergence) =>
    hasOp(divergence.op) &&
    (!filters.kind || divergence.kind === filters.kind) &&
    (!filters.phase || divergence.phase === filters.phase) &&
    (!filters.level || hasLevel(divergence, filters.level)) &&
    (!filters.cause || run.causes[divergence.cause]?.[0] === filters.cause) &&
    hasFamilyAndTest(divergence) &&
    hasWords(() => run.searchable(divergence));
}

// An op has the kinds and levels of its divergences in the phases asked for, and the outcomes of its cells there.
export function matchOp(run, filters) {
  const hasOp = matchName(filters.op, run.names.op);
  const hasWords = matchWords(filters.text);
  const hasFamilyAndTest = matchFamilyAndTest(run, filters);
  const phases = filters.phase ? [filters.phase] : run.phases;
  const column = CELL_OUTCOMES.indexOf(filters.level);
  return (row) => {
    const divergences = run.divergencesOf(row.op).filter(({ phase }) => phases.includes(phase));
    return hasOp(row.op) &&
      (!filters.cause || divergences.some(({ cause }) => run.causes[cause]?.[0] === filters.cause)) &&
      hasWords(() => row.op.toLowerCase()) &&
      (!filters.phase || row.cells[filters.phase] !== undefined) &&
      (!filters.kind || divergences.some(({ kind }) => kind === filters.kind)) &&
      (!filters.level || divergences.some((divergence) => hasLevel(divergence, filters.level)) ||
        phases.some((phase) => row.cells[phase]?.[column] > 0)) &&
      hasFamilyAndTest(row);
  };
}
