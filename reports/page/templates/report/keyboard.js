// The keys of the help line at the foot of the page, and the arrows in the list.

import { VIEWS, noFilters } from "./address.js";

export class Keyboard {
  #navigation;
  #form;
  #divergences;

  constructor({ navigation, form, divergences }) {
    this.#navigation = navigation;
    this.#form = form;
    this.#divergences = divergences;
  }

  listen() {
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = this.#actionOf(event);
    if (!action) return;
    action();
    event.preventDefault();
  }

  // What a key does, undefined for one that does nothing here. In a field all keys but Escape are its own.
  #actionOf({ key, target }) {
    const field = this.#form.nameOf(target);
    if (key === "Escape") return () => this.#escape(field, target);
    if (field) return undefined;
    if (key === "/" && this.#form.isShown) return () => this.#form.focusText();
    const isList = this.#navigation.choice.view === VIEWS[0];
    const isRow = target.matches(".row h3 button");
    if ((key === "j" && isList) || (key === "ArrowDown" && isRow)) return () => focusNeighbour(1);
    if ((key === "k" && isList) || (key === "ArrowUp" && isRow)) return () => focusNeighbour(-1);
    return undefined;
  }

  // Takes back one thing: the text of the field, else the divergence opened last or here, else the filters.
  #escape(field, target) {
    const { view, open } = this.#navigation.choice;
    if (field && target.value) {
      this.#navigation.filter(field, "");
    } else if (open.size && view === VIEWS[0]) {
      const here = document.activeElement.closest(".row")?.dataset.id;
      const id = open.has(here) ? here : [...open].pop();
      this.#navigation.go({ open: new Set([...open].filter((other) => other !== id)) });
      this.#divergences.focusRow(id);
    } else {
      this.#navigation.go({ filters: noFilters() });
    }
  }
}

// The row below or above the one that has the focus; without one, the first or the last.
function focusNeighbour(step) {
  const heads = [...document.querySelectorAll("#view-divergences .row h3 button")];
  const here = heads.indexOf(document.activeElement.closest(".row")?.querySelector("h3 button"));
  const outside = step > 0 ? 0 : heads.length - 1;
  const next = heads[here < 0 ? outside : here + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
