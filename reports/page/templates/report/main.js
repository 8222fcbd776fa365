// Draws the lists of a report from the data in the page. The modules are joined into one script when the page is
// written, see reports/page/script.py; this one alone does something when it is loaded.

import { watchCopyButtons } from "./clipboard.js";
import { Coverage } from "./coverage.js";
import { DivergenceList } from "./divergences.js";
import { Editor } from "./editor.js";
import { byId } from "./elements.js";
import { Files } from "./files.js";
import { FilterForm } from "./filterform.js";
import { Keyboard } from "./keyboard.js";
import { OpMap } from "./map.js";
import { Matrix } from "./matrix.js";
import { Navigation } from "./navigation.js";
import { OpPage } from "./op.js";
import { Paging } from "./paging.js";
import { Run } from "./run.js";
import { watchColours } from "./scatter.js";
import { Tabs, viewsOfPage } from "./tabs.js";
import { Tests } from "./tests.js";
import { watchThemeButton } from "./theme.js";
import { Timeline } from "./timeline.js";

document.documentElement.classList.add("js");
watchThemeButton();

const run = new Run(JSON.parse(byId("data").textContent));
const files = new Files(run.base);
const navigation = new Navigation(viewsOfPage(), document.querySelector("main").dataset.first, show);
const paging = new Paging(() => navigation.redraw());
const tabs = new Tabs(run, navigation);
const form = new FilterForm(run, navigation);
const editor = new Editor(run.root, navigation);
const parts = { run, navigation, form, paging, files, editor };
const divergences = new DivergenceList(parts);
// The view of the kept runs is written by the template and stays as it is, and so is that of the run but for its timeline.
const views = {
  divergences, matrix: new Matrix(parts), tests: new Tests(parts), coverage: new Coverage(parts), op: new OpPage(parts),
  run: new Timeline(parts), runs: null,
};
const map = new OpMap(parts);
new Keyboard({ navigation, form, divergences }).listen();
watchCopyButtons();
watchColours();

// The data files call these.
window.autotest = Object.freeze({
  detail: (detail) => files.receive(`detail ${detail.id}`, detail),
  plots: (uPlot) => files.receive("plots", uPlot),
  graphs: (dagre) => files.receive("graphs", dagre),
  coverage: (coverage) => files.receive("coverage", coverage),
  timeline: (timeline) => files.receive("timeline", timeline),
});
navigation.start();

function show(choice, before) {
  // Another list starts at its first page; the same one with another row open does not.
  const listing = ({ view, filters, all }) => JSON.stringify([view, filters, all]);
  if (!before || listing(before) !== listing(choice)) paging.restart();
  tabs.sync(choice.view);
  form.sync(choice);
  map.sync(choice);
  views[choice.view]?.draw(choice, before);
}
