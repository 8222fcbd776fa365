// The plots of a divergence's elements: what both sides have over the input's value, with the band of the tolerance, and
// how far they are apart over the input's magnitude. uPlot draws them; its file is read when the first plot is shown.

import { Axis } from "./axis.js";
import { el, failure, folded, paragraph, scrollBox, table } from "./elements.js";
import { fullSection } from "./section.js";
import { counted, rounded, whole } from "./words.js";

const [WIDEST, MARGINS, HEIGHT] = [620, 90, 250];
const DIGITS = 9;
const [POINT, EQUAL] = [6, 0.5];
const FONT = "11px ui-monospace, monospace";
const isNumber = (value) => typeof value === "number";
const drawn = new Set();

// An element is its input, what each side has, what is allowed, and the distance in ULP; words stand for what is not finite.
export function sampleSection(sample, target, files) {
  const { along, of, elements } = sample;
  const name = along || "reference";
  const place = el("div", { class: "plots" });
  const head = [name, "reference", target, "allowed", "ULP"];
  const rows = elements.map((element) => element.map((value) => rounded(value, DIGITS)));
  const words = elements.length < of ? `${whole(elements.length)} of ${whole(of)} elements: the worst, and others evenly` : null;
  const parts = [...wordsOf(elements, target)];
  const show = (uPlot, sentence) => {
    if (!uPlot) place.replaceChildren(failure(sentence));
    else place.replaceChildren(...[valuePlot(uPlot, elements, name, target), errorPlot(uPlot, elements, name)].filter(Boolean));
  };
  files.load("plots.js", "plots", show);
  return fullSection("Element by element", place, words ? paragraph("soft", words) : null,
    ...parts.map((sentence) => paragraph("whole", sentence)),
    folded("numbers", scrollBox("Numbers of the plots", table(head, rows, "numbers"))));
}

// What no plot can show: elements that are not finite on a side, with the words for them.
export function wordsOf(elements, target) {
  const groups = new Map();
  for (const [input, expected, actual] of elements) {
    if (isNumber(input) && isNumber(expected) && isNumber(actual)) continue;
    const words = `the reference is ${kind(expected)}, ${target} is ${kind(actual)}`;
    groups.set(words, [...(groups.get(words) ?? []), input]);
  }
  return [...groups].map(([words, inputs]) => {
    const said = [...new Set(inputs.map((input) => rounded(input, 4)))];
    const some = said.slice(0, 4).join(", ") + (said.length > 4 ? " and others" : "");
    return `Not drawn: ${counted(inputs.length, "element")} where ${words}, at ${some}.`;
  });
}

const kind = (value) => (isNumber(value) ? "a number" : value === "nan" ? "NaN" : value);

function valuePlot(uPlot, elements, name, target) {
  const shown = elements.filter(([input, expected]) => isNumber(input) && isNumber(expected));
  if (!shown.length) return null;
  const column = (part) => shown.map(part);
  const bound = (sign) => column(([, expected, , allowed]) => (allowed === null ? null : expected + sign * allowed));
  const numbers = column(([input]) => input);
  const data = [
    numbers, bound(-1), bound(1), column(([, expected]) => expected), column(([, , actual]) => (isNumber(actual) ? actual : null)),
  ];
  const spread = shown.flatMap(([, expected, actual]) => [expected, actual]).filter(isNumber);
  const edge = { width: 0, points: { show: false } };
  return plot(uPlot, {
    title: `Both sides over the value of ${said(name)}`,
    scales: { x: scale(numbers), y: scale(spread) },
    axes: [ticks(numbers), ticks(spread)],
    series: [
      { label: name, value: told },
      { ...edge, label: "allowed from", value: told }, { ...edge, label: "to", value: told },
      points("reference", "--soft", 10), points(target, "--wrong", 5, true),
    ],
    bands: [{ series: [2, 1], fill: () => colour("--known", 0.25) }],
  }, data);
}

function errorPlot(uPlot, elements, name) {
  const shown = elements
    .filter(([input, , , , ulp]) => isNumber(input) && input !== 0 && isNumber(ulp))
    // What is equal stands below what is one apart: a logarithm has no place for it.
    .map(([input, , , , ulp]) => [Math.abs(input), Math.max(ulp, EQUAL)])
    .sort(([one], [other]) => one - other);
  if (shown.length < 2) return null;
  const data = [shown.map(([size]) => size), shown.map(([, ulp]) => ulp)];
  return plot(uPlot, {
    title: `Error in ULP over the magnitude of ${said(name)}`,
    scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
    axes: [{ splits: powers }, { splits: powers }],
    series: [{ label: `|${name}|`, value: told }, { ...points("ULP", "--wrong", POINT, true), value: (_, ulp) => told(_, ulp === EQUAL ? 0 : ulp) }],
  }, data);
}

const told = (_, value) => (value === null || value === undefined ? "-" : rounded(value, DIGITS));

const points = (label, name, size, isFilled = false) => ({
  label, isFilled, value: told, paths: () => null, stroke: () => colour(name),
  points: { show: true, size, width: 1.5, stroke: () => colour(name), fill: () => colour(isFilled ? name : "--panel") },
});

// Logarithmic but around zero where some numbers are huge beside the others.
function scale(numbers) {
  const axis = new Axis(numbers);
  return axis.isLogarithmic ? { time: false, distr: 4, asinh: axis.usual } : { time: false };
}

// There uPlot names none but zero.
function ticks(numbers) {
  const axis = new Axis(numbers);
  if (!axis.isLogarithmic) return {};
  return { splits: () => axis.ticks.map(([, number]) => number), filter: (_, splits) => splits };
}

function plot(uPlot, options, data) {
  const width = Math.max(260, Math.min(WIDEST, document.documentElement.clientWidth - MARGINS));
  const axis = () => ({
    font: FONT, stroke: () => colour("--soft"), size: 62,
    grid: { stroke: () => colour("--line"), width: 1 }, ticks: { stroke: () => colour("--line"), width: 1 },
    values: (_, splits) => splits.map((value) => (value === null ? null : short(value))),
  });
  const place = el("figure", { role: "group", "aria-label": `${options.title}; its numbers are in the table below` });
  const made = new uPlot(
    {
      width, height: HEIGHT, cursor: { drag: { x: true, y: true } }, ...options,
      axes: [{ ...axis(), size: 34, ...options.axes?.[0] }, { ...axis(), ...options.axes?.[1] }],
      // What is hollow in the plot is so beside its name.
      legend: { markers: { width: 2, fill: (made, place) => (made.series[place].isFilled ? made.series[place]._stroke : null) } },
    },
    data, place);
  drawn.add(made);
  return scrollBox(options.title, place);
}

const said = (name) => (name === "reference" ? "the reference" : name);

// 1500000 takes more room than an axis has: 1.5e6.
function short(value) {
  const size = Math.abs(value);
  return size && (size >= 1e5 || size < 1e-3) ? value.toExponential().replace("e+", "e") : rounded(value, 4);
}

// The powers of ten of an axis, at most a dozen of them.
function powers(_, axis, least, most) {
  const [from, to] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const step = Math.ceil((to - from + 1) / 12);
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, number) => 10 ** (from + number * step));
}

// A canvas knows no names of colours: an element is asked what the name is in the colours of now.
function colour(name, opacity = 1) {
  const probe = el("span", { hidden: true });
  probe.style.color = opacity === 1 ? `var(${name})` : `color-mix(in srgb, var(${name}) ${100 * opacity}%, transparent)`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

// The colours of the page may change below what is drawn: by its button, by the system, or for paper.
export function watchColours() {
  const redraw = () => {
    for (const made of drawn) if (made.root.isConnected) made.redraw(false);
  };
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}
