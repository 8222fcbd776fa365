// The histogram: how many elements are how many ULP apart.

import { el, folded, scrollBox, svg, table } from "./elements.js";
import { label, plot } from "./plot.js";
import { section } from "./section.js";
import { counted, whole } from "./words.js";

const [LINE_HEIGHT, LETTER_WIDTH, BAR_WIDTH, COUNT_WIDTH] = [18, 6.7, 240, 60];
const FEWEST_FOLDED = 3;

// Bins are pairs of a name and a count, the smallest error first.
export function histogramSection(bins) {
  const numbers = table(["ULP", "elements"], bins.map(([name, count]) => [name, whole(count)]));
  return section("Errors in ULP",
    el("figure", {}, scrollBox("Histogram", drawing(foldEmpty(bins)))),
    folded("numbers", scrollBox("Numbers of the histogram", numbers)));
}

// Three or more empty bins in a row become one line without a count: [["1", 4], ["5 empty bins", null], ["64-127", 1]].
export function foldEmpty(bins) {
  const lines = [];
  for (let start = 0; start < bins.length; ) {
    let end = start;
    while (end < bins.length && bins[end][1] === 0) end += 1;
    if (end - start >= FEWEST_FOLDED) lines.push([`${end - start} empty bins`, null]);
    else lines.push(...bins.slice(start, Math.max(end, start + 1)));
    start = Math.max(end, start + 1);
  }
  return lines;
}

function drawing(lines) {
  const left = 10 + Math.ceil(LETTER_WIDTH * Math.max(...lines.map(([name]) => name.length)));
  const most = Math.max(1, ...lines.map(([, count]) => count ?? 0));
  const drawn = plot(left + BAR_WIDTH + COUNT_WIDTH, lines.length * LINE_HEIGHT, "Histogram of the errors in ULP");
  lines.forEach(([name, count], number) => {
    const y = number * LINE_HEIGHT;
    const words = label(left - 8, y + 13, "end", name, count === null ? "faint" : null);
    drawn.append(count === null ? words : bar(name, count, words, left, y, most));
  });
  return drawn;
}

// A bar is as long as its share of the longest one, and never too short to be seen.
function bar(name, count, words, x, y, most) {
  const width = count ? Math.max(1, (count / most) * BAR_WIDTH) : 0;
  return svg("g", {},
    svg("title", {}, `${name}: ${counted(count, "element")}`),
    words,
    svg("rect", { class: name === "not finite" ? "bar odd" : "bar", x, y: y + 3, width, height: LINE_HEIGHT - 5 }),
    label(x + width + 6, y + 13, "start", whole(count), "faint"));
}
