// Parts of the drawings.

import { svg } from "./elements.js";

export function plot(width, height, name) {
  const told = `${name}; its numbers are in the table below`;
  return svg("svg", { class: "plot", width, height, role: "img", "aria-label": told });
}

export function label(x, y, anchor, text, kind = null) {
  return svg("text", { class: kind, x, y, "text-anchor": anchor }, text);
}
