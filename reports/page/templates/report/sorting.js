// The order of a table's rows: as they come, the worst first, or by the column whose head was clicked.

import { button, el } from "./elements.js";

export class Sorting {
  #redraw;
  #column = null;
  #isTurned = false;

  constructor(redraw) {
    this.#redraw = redraw;
  }

  // The rows in order; keyOf(row, column) gives a number, of which the greatest stands first, or a text.
  apply(rows, keyOf) {
    if (this.#column === null) return rows;
    const sign = this.#isTurned ? -1 : 1;
    const keyed = rows.map((row) => [keyOf(row, this.#column), row]);
    return keyed.sort(([one], [other]) => sign * compare(one, other)).map(([, row]) => row);
  }

  // The head of a column: a click sorts by it, another one the other way round, a third as the rows come.
  head(name, column, kind = null) {
    const isHere = this.#column === column;
    const ascends = typeof column === "string" ? !this.#isTurned : this.#isTurned;
    const direction = isHere ? (ascends ? "ascending" : "descending") : null;
    const mark = el("span", { class: "direction", "aria-hidden": "true" }, isHere ? (ascends ? "\u2191" : "\u2193") : "");
    return el("th", { scope: "col", class: kind, "aria-sort": direction },
      button([name, mark], () => this.#choose(column), { title: "Sort by this column", "data-sort": String(column) }));
  }

  #choose(column) {
    const wasTurned = this.#column === column && this.#isTurned;
    this.#isTurned = this.#column === column && !wasTurned;
    this.#column = wasTurned ? null : column;
    this.#redraw();
    document.querySelector(`.view:not([hidden]) [data-sort="${column}"]`)?.focus();
  }
}

const compare = (one, other) => (typeof one === "string" ? one.localeCompare(other) : other - one);
