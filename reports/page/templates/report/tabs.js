// The tabs of the views, and which view is shown.

import { VIEWS } from "./address.js";
import { byId } from "./elements.js";
import { isQuiet } from "./outcomes.js";
import { whole } from "./words.js";

// The page has no view of the run where there is nothing to tell of it.
export const viewsOfPage = () => VIEWS.filter((view) => byId(`view-${view}`));

export class Tabs {
  #views = viewsOfPage();
  // The page of an op has no tab: what leads there names the op.
  #tabs = this.#views.filter((view) => byId(`tab-${view}`));
  #offered;
  #navigation;

  constructor(run, navigation) {
    this.#navigation = navigation;
    const isEmpty = { matrix: !run.ops.length, coverage: !run.ops.length, tests: !run.tests.length };
    this.#offered = this.#tabs.filter((view) => !isEmpty[view]);
    for (const view of this.#tabs) {
      const tab = byId(`tab-${view}`);
      tab.hidden = !this.#offered.includes(view);
      tab.addEventListener("click", () => navigation.go({ view }));
      tab.addEventListener("keydown", (event) => this.#step(view, event.key));
    }
    const loud = run.divergences.filter((divergence) => !isQuiet(divergence)).length;
    if (loud) byId("tab-divergences").append(` ${whole(loud + run.more)}`);
  }

  sync(shown) {
    for (const view of this.#tabs) {
      const tab = byId(`tab-${view}`);
      tab.setAttribute("aria-selected", String(view === shown));
      tab.tabIndex = view === (this.#tabs.includes(shown) ? shown : VIEWS[0]) ? 0 : -1;
    }
    for (const view of this.#views) byId(`view-${view}`).hidden = view !== shown;
  }

  #step(view, key) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const { length } = this.#offered;
    const next = this.#offered[(this.#offered.indexOf(view) + step + length) % length];
    this.#navigation.go({ view: next });
    byId(`tab-${next}`).focus();
  }
}
