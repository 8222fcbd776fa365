// The heat map: where in a tensor the two sides differ, and by how much.

import { el, folded, scrollBox, svg, table } from "./elements.js";
import { label, plot } from "./plot.js";
import { section } from "./section.js";
import { rounded } from "./words.js";

const SHADES = 6;
const WIDTH = 600;
const [SMALLEST_CELL, LARGEST_CELL] = [7, 30];
const [LEFT, TOP] = [30, 16];
// Room for a number beside a cell, and for a word in one.
const [NUMBER_WIDTH, WORD_WIDTH] = [22, 26];

// A cell is a number, a word for one that is not finite ("nan"), or null where nothing was compared.
const isWord = (cell) => typeof cell === "string";

export function heatMapSection(heat) {
  const shades = new Shades(heat.cells.flat());
  const numbers = heat.cells.map((cells, row) => [String(row), ...cells.map((cell) => rounded(cell, 17))]);
  const columns = Array.from({ length: heat.columns }, (_, column) => String(column));
  const caption = `|difference| of a tensor of shape [${heat.shape.join(", ")}]${heat.note ? `; ${heat.note}` : ""}`;
  return section("Where it differs",
    el("figure", {},
      scrollBox("Heat map", drawing(heat, shades)),
      el("div", { class: "legend" }, legend(shades)),
      el("figcaption", { class: "soft" }, caption)),
    folded("numbers", scrollBox("Numbers of the heat map", table(["", ...columns], numbers))));
}

// Upper bounds of the shades: even steps, or even in the logarithm where the values span more than two decades.
export function bounds(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (low === high) return [high];
  const [from, to] = [Math.log10(low), Math.log10(high)];
  const bound = (share) => (to - from > 2 ? 10 ** (from + (to - from) * share) : low + (high - low) * share);
  const shares = Array.from({ length: SHADES }, (_, step) => (step + 1) / SHADES);
  return shares.map((share) => (share === 1 ? high : bound(share)));
}

// The shade of each cell, as a class of the style sheet: heat-0 is zero, heat-6 the largest difference.
export class Shades {
  constructor(cells) {
    const positive = cells.filter((cell) => typeof cell === "number" && cell > 0);
    this.bounds = positive.length ? bounds(positive) : [];
    this.words = [...new Set(cells.filter(isWord))];
    this.hasZero = cells.includes(0);
    this.hasNull = cells.includes(null);
  }

  of(cell) {
    if (cell === null) return "none";
    if (isWord(cell)) return "odd";
    return cell > 0 ? this.at(Math.max(0, this.bounds.findIndex((bound) => cell <= bound))) : "heat-0";
  }

  // Fewer shades than there are take the darkest ones.
  at(step) {
    return `heat-${SHADES + 1 - this.bounds.length + step}`;
  }
}

function drawing({ rows, columns, cells }, shades) {
  const size = Math.max(SMALLEST_CELL, Math.min(LARGEST_CELL, Math.floor(WIDTH / columns)));
  const every = Math.ceil(NUMBER_WIDTH / size);
  const name = `Heat map of the difference, ${rows} by ${columns} cells`;
  const drawn = plot(LEFT + size * columns, TOP + size * rows, name);
  for (let column = 0; column < columns; column += every) {
    drawn.append(label(LEFT + (column + 0.5) * size, 10, "middle", column, "faint"));
  }
  cells.forEach((line, row) => {
    const y = TOP + row * size;
    if (row % every === 0) drawn.append(label(LEFT - 5, y + size / 2 + 4, "end", row, "faint"));
    line.forEach((cell, column) => {
      const title = `row ${row}, column ${column}: ${cell ?? "not compared"}`;
      drawn.append(...cellNodes(cell, title, shades.of(cell), LEFT + column * size, y, size));
    });
  });
  return drawn;
}

// A cell, and its word on a plate of its own where there is room for it.
function cellNodes(cell, title, shade, x, y, size) {
  const square = svg("rect", { class: `cell ${shade}`, x, y, width: size, height: size }, svg("title", {}, title));
  if (!isWord(cell) || size < WORD_WIDTH) return [square];
  const middle = y + size / 2;
  const plate = svg("rect", { class: "plate", x: x + 2, y: middle - 6, width: size - 4, height: 12 });
  return [square, plate, label(x + size / 2, middle + 4, "middle", cell.slice(0, 4), "over")];
}

function legend(shades) {
  const to = shades.bounds.length > 1 ? "to " : "";
  return [
    shades.hasZero ? swatch("heat-0", "0") : null,
    ...shades.bounds.map((bound, step) => swatch(shades.at(step), `${to}${rounded(bound, 3)}`)),
    shades.words.length ? swatch("odd", `not finite: ${shades.words.join(", ")}`) : null,
    shades.hasNull ? swatch("none", "not compared") : null,
  ];
}

function swatch(shade, words) {
  const square = svg("rect", { class: shade, width: "100%", height: "100%" });
  return el("span", {}, svg("svg", { "aria-hidden": "true" }, square), words);
}
