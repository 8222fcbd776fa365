// The losses of a training: a curve of each side over the others, and where they part.

import { Axis } from "./axis.js";
import { el, folded, list, scrollBox, svg, table } from "./elements.js";
import { label, plot } from "./plot.js";
import { section } from "./section.js";
import { rounded } from "./words.js";

// As wide as the window has room for, within these; the page's margins take a share of it, those of the row the rest.
const [NARROWEST, WIDEST, SHARE, MARGINS] = [240, 760, 0.94, 36];
const [TOP, HEIGHT, RIGHT, LINE_HEIGHT] = [26, 180, 14, 18];
const [LETTER_WIDTH, NUMBER_WIDTH, MARKER_WIDTH, MARK_WIDTH] = [6.7, 30, 14, 140];
const DIGITS = 9;
const NOT_FINITE = "not finite";
// Each side's marker. The reference is drawn first and largest: where the others lie upon it, it shows around them.
const MARKERS = {
  reference: "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z",
  eager: "M-3 -3h6v6h-6z",
  graph: "M-5.5 -5.5 5.5 5.5M-5.5 5.5 5.5 -5.5",
};

const isNumber = (loss) => typeof loss === "number";
const isWord = (loss) => typeof loss === "string";

// A curve holds a number for each step, or a word for one that is not finite ("nan"), or null for none; it is null
// where its side shows none at all.
export function lossesSection({ words, parting, ...curves }, target) {
  const names = { reference: "reference", eager: `${target} eager`, graph: `${target} graph` };
  const sides = Object.keys(MARKERS)
    .filter((side) => curves[side])
    .map((side) => ({ side, name: names[side], losses: curves[side] }));
  const told = words.map((sentence) => sentence.replace(/^\w+/, (side) => names[side] ?? side));
  return section("Losses",
    parting ? el("p", { class: "whole" }, el("strong", {}, "First apart"), ` ${parting.words}`) : null,
    told.length ? list(told) : null,
    ...(sides.length ? drawn(sides, parting) : []));
}

function drawn(sides, parting) {
  const axis = new Axis(sides.flatMap(({ losses }) => losses.filter(isNumber)));
  const rows = sides[0].losses.map((_, index) => [
    index + 1 === parting?.step ? `> ${index + 1}` : String(index + 1),
    ...sides.map(({ losses }) => rounded(losses[index], DIGITS)),
  ]);
  const numbers = table(["step", ...sides.map(({ name }) => name)], rows, "numbers");
  return [
    el("figure", {},
      scrollBox("Losses", drawing(sides, axis, parting)),
      el("div", { class: "legend curves" }, sides.map(entry)),
      el("figcaption", { class: "soft" }, `Loss by step${axis.isLogarithmic ? ", on a logarithmic axis" : ""}`)),
    folded("numbers", scrollBox("Numbers of the losses", numbers)),
  ];
}

function drawing(sides, axis, parting) {
  const hasWords = sides.some(({ losses }) => losses.some(isWord));
  const letters = Math.max(hasWords ? NOT_FINITE.length : 0, ...axis.ticks.map(([name]) => name.length));
  const [left, top] = [14 + Math.ceil(LETTER_WIDTH * letters), TOP + (hasWords ? LINE_HEIGHT : 0)];
  const room = document.documentElement.clientWidth * SHARE - MARGINS;
  const right = Math.max(NARROWEST, Math.min(WIDEST, room)) - RIGHT;
  const steps = sides[0].losses.length;
  const places = {
    x: (index) => (steps === 1 ? (left + right) / 2 : left + 8 + (index / (steps - 1)) * (right - left - 16)),
    y: (loss) => (isWord(loss) ? TOP + 4 : top + HEIGHT - axis.place(loss) * HEIGHT),
  };
  const drawn = plot(right + RIGHT, top + HEIGHT + 2 * LINE_HEIGHT, "Losses by step");
  drawn.classList.add("curves");
  for (const [name, number] of axis.ticks) drawn.append(...tick(name, places.y(number), left, right));
  if (hasWords) drawn.append(...tick(NOT_FINITE, TOP + 4, left, right));
  drawn.append(...stepNumbers(steps, places, (left + right) / 2, top + HEIGHT, right - left));
  if (parting) drawn.append(...mark(parting.step, places.x(parting.step - 1), top + HEIGHT, left, right));
  for (const side of sides) drawn.append(curve(side, places, (right - left) / steps));
  return drawn;
}

const tick = (name, y, left, right) => [
  svg("path", { class: "tick", d: `M${left} ${y}H${right}` }),
  label(left - 8, y + 4, "end", name, "faint"),
];

// Every one, or every second, fifth, tenth and so on, as there is room; what is numbered stands in the middle below.
function stepNumbers(steps, { x }, middle, bottom, width) {
  const crowd = (steps * NUMBER_WIDTH) / width;
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, crowd)));
  const every = ten * [1, 2, 5, 10].find((times) => ten * times >= crowd);
  const numbers = [];
  for (let step = every; step <= steps; step += every) {
    numbers.push(label(x(step - 1), bottom + LINE_HEIGHT, "middle", step, "faint"));
  }
  return [...numbers, label(middle, bottom + 2 * LINE_HEIGHT - 4, "middle", "step", "faint")];
}

// A line through the step that parts, with words on top that stay inside of the plot.
function mark(step, x, bottom, left, right) {
  const anchor = x - left < MARK_WIDTH / 2 ? "start" : right - x < MARK_WIDTH / 2 ? "end" : "middle";
  const at = { start: -8, middle: 0, end: 8 }[anchor];
  return [
    svg("path", { class: "parting", d: `M${x} 14V${bottom}` }),
    label(x + at, 9, anchor, `\u25bc first apart: step ${step}`, "parting"),
  ];
}

function curve({ side, name, losses }, { x, y }, room) {
  const every = Math.ceil(MARKER_WIDTH / room);
  const line = losses
    .map((loss, index) => isNumber(loss) && `${isNumber(losses[index - 1]) ? "L" : "M"}${x(index)} ${y(loss)}`)
    .filter(Boolean)
    .join("");
  const isMarked = (loss, index) => isWord(loss) || (isNumber(loss) && index % every === 0);
  const marker = (loss, index) =>
    svg("path", { class: "marker", d: MARKERS[side], transform: `translate(${x(index)} ${y(loss)})` },
      svg("title", {}, `step ${index + 1}, ${name}: ${loss}`));
  return svg("g", { class: side },
    svg("path", { class: "line", d: line }),
    losses.map((loss, index) => (isMarked(loss, index) ? marker(loss, index) : null)));
}

function entry({ side, name }) {
  const sample = svg("g", { class: side },
    svg("path", { class: "line", d: "M2 7H46" }),
    svg("path", { class: "marker", d: MARKERS[side], transform: "translate(24 7)" }));
  return el("span", {}, svg("svg", { viewBox: "0 0 48 14", "aria-hidden": "true" }, sample), name);
}
