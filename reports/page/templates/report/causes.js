// Cards of what divergences of several ops share: a guess at their cause, each with its ops as links.

import { writeHash } from "./address.js";
import { code, el, soft } from "./elements.js";
import { opHref } from "./map.js";
import { counted, whole } from "./words.js";

const MOST_CARDS = 6;
const MOST_OPS = 24;

// The cards of the divergences that match the filters, or null where no two ops share anything. What is known or counted
// has its cards also where its rows are hidden.
export function causeCards(run, matching, filters) {
  const groups = run.causes.map(() => []);
  for (const divergence of matching) groups[divergence.cause]?.push(divergence);
  const cards = groups.map((found, number) => card(run.causes[number], found, filters)).filter(Boolean);
  if (!cards.length) return null;
  const note = "Divergences of several ops that need the same and fail the same way: a guess at their cause, no proof.";
  const rest = cards.length > MOST_CARDS ?
    el("details", {}, el("summary", {}, `${counted(cards.length - MOST_CARDS, "more shared cause")}`),
      el("ul", { class: "causes" }, cards.slice(MOST_CARDS))) : null;
  return el("section", { "aria-label": "Shared causes" },
    el("h3", {}, counted(cards.length, "shared cause")), soft(note),
    el("ul", { class: "causes" }, cards.slice(0, MOST_CARDS)), rest);
}

function card([title, level], found, given) {
  const ops = [...new Set(found.map(({ op }) => op))].sort();
  if (ops.length < 2) return null;
  const filters = { ...given, cause: title, level };
  const href = writeHash({ view: "divergences", filters, all: false, open: new Set() });
  const links = ops.slice(0, MOST_OPS).map((op) => el("a", { href: opHref(op) }, code(op)));
  return el("li", { class: `cause ${level}` },
    el("p", {}, el("a", { href }, el("b", {}, counted(ops.length, "op"))), ` ${level}, `,
      `${counted(found.length, "divergence")}: ${title}`),
    el("p", { class: "members" }, links,
      ops.length > MOST_OPS ? soft(`and ${whole(ops.length - MOST_OPS)} more`) : null));
}
