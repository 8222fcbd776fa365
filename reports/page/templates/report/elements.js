// Elements of the page. Text becomes a text node or an attribute here, never markup: names and messages come from
// whatever was tested.

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== ""));
  return node;
}

// An element of a tag. Attributes that are null or false are left out, as are children that are null, so that a
// condition can stand in their place; an attribute "onclick", "onload" and so on is a listener.
export const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
export const byId = (id) => document.getElementById(id);

export const code = (text) => el("code", {}, text);
export const soft = (text) => el("span", { class: "soft" }, text);
export const paragraph = (kind, text) => el("p", { class: kind }, text);
export const failure = (sentence) => el("p", { class: "say failure full", role: "status" }, sentence);
export const list = (items, kind = null) => el("ul", { class: kind }, items.map((item) => el("li", {}, item)));
export const folded = (summary, ...content) => el("details", {}, el("summary", {}, summary), ...content);
export const button = (content, onclick, attributes = {}) =>
  el("button", { type: "button", onclick, ...attributes }, content);
// Its listener is the document's: see clipboard.js.
export const copyButton = (text, what) =>
  el("button", { type: "button", class: "copy", "data-copy": text, "aria-label": `Copy ${what}` }, "Copy");

// What is wider than the window scrolls in a box of its own, which the keyboard can reach.
export function scrollBox(name, content, kind = "scroll") {
  return el("div", { class: kind, role: "group", "aria-label": name, tabindex: "0" }, content);
}

export function table(head, rows, kind = null) {
  const cell = (tag, value, attributes) => el(tag, attributes, ...[value].flat());
  return el("table", { class: kind },
    el("thead", {}, el("tr", {}, head.map((name) => cell("th", name, { scope: "col" })))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((value) => cell("td", value, {}))))));
}

// A table that is as long as it is: its head stays in sight, and only one that is too wide scrolls, sideways. head is
// its th elements.
export function openTable(caption, head, bodies, isWide) {
  const content = el("table", {}, el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, head)), bodies);
  return scrollBox(caption, content, isWide ? "scroll open-table" : "scroll open-table fits");
}

// A table that is a view of its own: head has the name and class of each column, bodies are its tbody elements.
export function wideTable(caption, head, bodies) {
  const names = el("tr", {}, head.map(([name, kind]) => el("th", { scope: "col", class: kind }, name)));
  const content = el("table", {}, el("caption", { class: "unseen" }, caption), el("thead", {}, names), bodies);
  return scrollBox(caption, content, "scroll wide-table");
}
