// Where the time went: a lane for each process, a bar for each test, and marks where a target ended or a divergence was
// looked at closely. Tests too short to be seen alone are one bar. Its file is read when the view is first opened.

import { noFilters, writeHash } from "./address.js";
import { byId, el, failure, paragraph, svg } from "./elements.js";
import { counted, seconds } from "./words.js";

const KEY = "timeline";
// In parts of the width: a bar narrower than this is drawn together with its neighbours.
const PARTS = 1000;
const LANE = 22;
const MARKS = {
  crashed: "the target was killed, and started again",
  timed_out: "the target did not answer, and was started again",
  out_of_memory: "the target took too much memory, and was started again",
  shrunk: "shrinking",
  judged: "verified which side is wrong",
};
const ENDS = new Set(["crashed", "timed_out", "out_of_memory"]);

export class Timeline {
  #navigation;
  #files;
  #place = byId("timeline");
  #isLoading = false;

  constructor({ navigation, files }) {
    this.#navigation = navigation;
    this.#files = files;
  }

  draw({ filters }) {
    if (!this.#place) return;
    const timeline = this.#files.received(KEY);
    if (timeline) this.#place.replaceChildren(...content(timeline, filters.test));
    else if (!this.#isLoading) this.#load();
  }

  #load() {
    this.#isLoading = true;
    this.#files.load("timeline.js", KEY, (timeline, sentence) => {
      this.#isLoading = false;
      if (timeline) this.#navigation.redraw();
      else this.#place.replaceChildren(failure(sentence));
    });
  }
}

function content({ seconds: all, lanes, more }, wanted) {
  if (!lanes.length) return [paragraph("say", "No test has ended.")];
  const kinds = Object.keys(MARKS).filter((kind) => lanes.some(({ marks }) => marks.some(([name]) => name === kind)));
  return [
    el("div", { class: "lanes" }, lanes.flatMap((lane) => [
      el("span", { class: "worker" }, lane.worker), drawn(lane, all || 1, wanted)])),
    el("p", { class: "soft ticks" }, el("span", {}, "0 s"), el("span", {}, seconds(all))),
    el("ul", { class: "marks" }, kinds.map((kind) => el("li", {},
      svg("svg", { "aria-hidden": "true", class: "key" }, svg("rect", { class: kind, width: "100%", height: "100%" })),
      MARKS[kind]))),
    more ? paragraph("soft", `${counted(more, "more mark")} left out.`) : null,
  ].filter(Boolean);
}

function drawn({ worker, tests, marks, open }, all, wanted) {
  const name = `${worker}: ${counted(tests.length, "test")}`;
  const place = ([, start, took]) => ({ x: `${100 * start / all}%`, width: `${Math.max(0.1, 100 * took / all)}%` });
  const bars = merged(tests, all / PARTS, wanted).map(({ names, start, took }) => {
    const [test] = names;
    const words = names.length === 1 ? `${test}: ${seconds(took)}` : `${counted(names.length, "short test")}: ${seconds(took)}`;
    const attributes = { class: test === wanted ? "test wanted" : "test", y: 3, height: LANE - 6, ...place([test, start, took]) };
    const rect = svg("rect", attributes, svg("title", {}, words));
    return names.length === 1 ? svg("a", { href: hrefOf(test), tabindex: "-1" }, rect) : rect;
  });
  const unended = open ? [svg("rect", { class: "open", y: 3, height: LANE - 6, ...place(open) },
    svg("title", {}, `${open[0]}: did not end`))] : [];
  // What took its time first: a moment at which the target ended lies within it.
  const ordered = [...marks].sort(([one], [other]) => ENDS.has(one) - ENDS.has(other));
  const signs = ordered.map((mark) => svg("rect", { class: mark[0], y: 0, height: LANE, ...place(mark) },
    svg("title", {}, `${MARKS[mark[0]]}, at ${seconds(mark[1])}`)));
  return svg("svg", { role: "group", "aria-label": name, height: LANE, class: "lane" }, bars, unended, signs);
}

// The tests as bars, from left to right; those that last less than the least time, one after the other, are one.
export function merged(tests, least, wanted) {
  const bars = [];
  for (const [name, start, took] of [...tests].sort((one, other) => one[1] - other[1])) {
    const last = bars.at(-1);
    const isShort = took < least && name !== wanted;
    if (isShort && last?.isShort && start + took - last.start < least * 2) {
      last.names.push(name);
      last.took = start + took - last.start;
    } else bars.push({ names: [name], start, took, isShort });
  }
  return bars;
}

const hrefOf = (test) => writeHash({ view: "tests", filters: { ...noFilters(), test }, all: false, open: new Set() });
