// What a reader chose: the view, its filters, the opened divergences. It lives in the hash of the address, so that a
// link shows it again: #view=divergences&op=add&open=4701a54b

export const VIEWS = ["divergences", "matrix", "tests", "coverage", "run", "runs", "op"];
export const FILTERS = ["text", "op", "family", "kind", "phase", "level", "test", "cases", "cause"];

export const noFilters = () => Object.fromEntries(FILTERS.map((name) => [name, ""]));

// An address may have been typed by hand or belong to another run: one without a view, or with one that this page lacks,
// means the view that a reader sees first.
export function readHash(hash, views, first = VIEWS[0]) {
  const given = new URLSearchParams(hash.slice(1));
  const view = views.includes(given.get("view")) ? given.get("view") : first;
  const filters = Object.fromEntries(FILTERS.map((name) => [name, given.get(name) ?? ""]));
  const open = new Set((given.get("open") ?? "").split(",").filter(Boolean));
  return { view, filters, open, all: given.get("all") === "1" };
}

export function writeHash({ view, filters, open, all }) {
  // The view is always named: an empty hash would scroll to the top.
  const said = new URLSearchParams({ view });
  for (const name of FILTERS) if (filters[name]) said.set(name, filters[name]);
  if (all) said.set("all", "1");
  if (open.size) said.set("open", [...open].join(","));
  return `#${said}`;
}
