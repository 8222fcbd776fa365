// A small tensor as each side has it, the elements that differ marked; eager and graph take turns where both ran.

import { button, el, scrollBox } from "./elements.js";
import { section } from "./section.js";

export function sidesSection(whole, target, phase) {
  const there = ["eager", "graph"].filter((name) => whole[name]);
  if (!whole.reference || !there.length) return null;
  const place = el("div", { class: "sides" });
  const show = (name) => place.replaceChildren(
    grid("reference", whole.reference, whole.wrong), grid(there.length > 1 ? `${target} ${name}` : target, whole[name], whole.wrong));
  // The side that diverges is shown first: the other one may be right.
  const first = phase.startsWith("graph") && whole.graph ? "graph" : there[0];
  const chosen = (name) => () => { choices.replaceChildren(...buttons(name)); show(name); };
  const buttons = (now) => there.map((name) => button(name, chosen(name), { "aria-pressed": String(name === now) }));
  const choices = el("p", { class: "choices" }, there.length > 1 ? buttons(first) : []);
  show(first);
  return section("Both sides", choices, place);
}

function grid(name, rows, wrong) {
  const cells = rows.map((row, at) => el("tr", {}, row.map((text, column) =>
    el("td", { class: wrong[at][column] ? "number wrong" : "number" }, text))));
  return el("figure", {}, el("figcaption", {}, name), scrollBox(name, el("table", { class: "whole-tensor" }, el("tbody", {}, cells))));
}
