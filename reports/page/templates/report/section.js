// A section of an opened divergence; a full one is as wide as the row, the others stand side by side.

import { el } from "./elements.js";

export const section = (title, ...content) => el("section", {}, el("h4", {}, title), ...content);
export const fullSection = (title, ...content) => el("section", { class: "full" }, el("h4", {}, title), ...content);
