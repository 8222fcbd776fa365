// Where the reader is, and the way to somewhere else: every choice goes through the address, then the page is drawn.

import { readHash, writeHash } from "./address.js";

const TYPING_MS = 150;

export class Navigation {
  #views;
  #first;
  #show;
  #choice;
  #shownHash = null;
  #pause = null;

  // show(choice, before) draws the page; before is what was chosen until now, null at first.
  constructor(views, first, show) {
    this.#views = views;
    this.#first = first;
    this.#show = show;
    this.#choice = this.#read();
  }

  get choice() {
    return this.#choice;
  }

  // Whether something was typed that is not in the address yet.
  get isTyping() {
    return this.#pause !== null;
  }

  start() {
    // go() has drawn the page before the browser tells of the new hash; back, forward and links have not.
    window.addEventListener("hashchange", () => {
      if (location.hash !== this.#shownHash) this.redraw();
    });
    this.redraw();
  }

  go(changes) {
    this.#forgetTyping();
    location.hash = this.#hashAfter(changes);
    this.redraw();
  }

  filter(name, value) {
    this.go({ filters: { ...this.#choice.filters, [name]: value.trim() } });
  }

  // Filters by what stands in the field when its reader pauses; the words on the way there are no steps to go back to.
  filterSoon(name, field) {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#forgetTyping();
      location.replace(this.#hashAfter({ filters: { ...this.#choice.filters, [name]: field.value.trim() } }));
      this.redraw();
    }, TYPING_MS);
  }

  redraw() {
    const before = this.#shownHash === null ? null : this.#choice;
    this.#shownHash = location.hash;
    this.#choice = this.#read();
    this.#show(this.#choice, before);
  }

  #read() {
    return readHash(location.hash, this.#views, this.#first);
  }

  #hashAfter(changes) {
    return writeHash({ ...this.#choice, ...changes });
  }

  #forgetTyping() {
    clearTimeout(this.#pause);
    this.#pause = null;
  }
}
