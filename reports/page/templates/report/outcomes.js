// What can come of a case, the worst first.

// A cell of the matrix is a list of counts, one for each of these, then the count of the cases that were not checked.
export const CELL_OUTCOMES = ["crashed", "wrong", "refuses", "known", "undecidable", "aligned"];
export const LEVELS = ["new", "crashed", "wrong", "refuses", "stricter", "known", "counted", "undecidable", "aligned"];
// The kinds in which the target ended.
const DEADLY = ["crash", "timeout", "out_of_memory"];
// The levels of divergences that are hidden until a reader asks for them.
export const QUIET = ["known", "counted"];

export const isQuiet = (divergence) => QUIET.includes(divergence.level);
export const isNew = (divergence) => divergence.level === "wrong" || divergence.level === "refuses";

export function outcomeOf({ level, kind }) {
  return level === "wrong" && DEADLY.includes(kind) ? "crashed" : level;
}

// The place of the worst outcome in CELL_OUTCOMES; one past its end where no case was checked.
export function worstIn(cell) {
  const found = (cell ?? []).findIndex((count) => count > 0);
  return found < 0 ? CELL_OUTCOMES.length : found;
}
