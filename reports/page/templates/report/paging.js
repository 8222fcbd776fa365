// How much of a long list is shown: its first 200 items and those that are kept; a button shows 200 more.

import { button } from "./elements.js";
import { whole } from "./words.js";

const PAGE = 200;

export class Paging {
  #limit = PAGE;
  #redraw;

  constructor(redraw) {
    this.#redraw = redraw;
  }

  restart() {
    this.#limit = PAGE;
  }

  // The nodes of the items that are shown, and the button, null where nothing is left.
  page(items, build, isKept = () => false) {
    const shown = items.filter((item, number) => number < this.#limit || isKept(item));
    const rest = items.length - shown.length;
    return [shown.map(build), rest > 0 ? this.#moreButton(rest) : null];
  }

  #moreButton(rest) {
    const showMore = () => {
      this.#limit += PAGE;
      this.#redraw();
    };
    return button(`Show ${whole(Math.min(rest, PAGE))} more of ${whole(rest)}`, showMore, { class: "more" });
  }
}
