// The form of filters above the lists, with the line below it that tells how much is shown.

import { FILTERS, noFilters } from "./address.js";
import { button, byId, el } from "./elements.js";
import { spaced } from "./words.js";

// Which filters mean something in which view.
const OF_DIVERGENCES = FILTERS.filter((name) => name !== "cases");
const APPLIES = {
  divergences: OF_DIVERGENCES,
  matrix: OF_DIVERGENCES,
  tests: ["text", "family", "test", "cases"],
  coverage: ["text", "op", "phase"],
  run: [],
  runs: [],
  op: [],
};
const LABELS = { level: "outcome" };

export class FilterForm {
  #run;
  #navigation;
  #form = byId("filters");
  #fields = new Map();
  #tally = el("span", { role: "status" });
  #quietBox = el("input", { type: "checkbox", id: "all" });
  #quietWords = el("span");
  #quietLabel = el("label", { for: "all" }, this.#quietBox, this.#quietWords);
  #clear;

  constructor(run, navigation) {
    this.#run = run;
    this.#navigation = navigation;
    this.#quietBox.addEventListener("change", () => navigation.go({ all: this.#quietBox.checked }));
    this.#clear = button("Clear filters", () => navigation.go({ filters: noFilters() }));
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.#form.append(
      el("div", { class: "fields" }, FILTERS.map((name) => this.#labelledField(name))),
      el("div", { class: "tally" }, this.#tally, this.#quietLabel, this.#clear));
  }

  // The name of the filter that an element is the field of, undefined for any other element.
  nameOf(element) {
    return FILTERS.find((name) => this.#fields.get(name) === element);
  }

  get isShown() {
    return !this.#form.hidden;
  }

  focusText() {
    this.#fields.get("text").focus();
  }

  // How much of its list a view shows.
  tell(sentence) {
    this.#tally.textContent = sentence;
  }

  // The box that shows or hides what is known or counted; words say how many there are.
  offerQuiet(words, checked) {
    this.#quietLabel.hidden = false;
    this.#quietWords.textContent = checked ? `with ${words}` : `show ${words} too, hidden now`;
    this.#quietBox.checked = checked;
  }

  sync({ view, filters }) {
    const hasNone = view === "divergences" && !this.#run.divergences.length;
    this.#form.hidden = !APPLIES[view].length || this.#run.isEmpty || hasNone;
    for (const [name, field] of this.#fields) {
      this.#syncField(name, field, filters[name]);
      const useless = name in this.#run.choices && this.#run.choices[name].length < 2 && !filters[name];
      field.parentNode.hidden = useless || !APPLIES[view].includes(name);
    }
    this.#clear.hidden = !FILTERS.some((name) => filters[name]);
    this.#quietLabel.hidden = true;
  }

  #syncField(name, field, value) {
    // An address may ask for a choice that this run does not have.
    const lacks = () => ![...field.options].some((option) => option.value === value);
    if (name in this.#run.choices && value && lacks()) field.append(el("option", { value }, value));
    // What is being typed stays as it is, a blank at its end included.
    const isTyped = this.#navigation.isTyping && field === document.activeElement;
    if (!isTyped && field.value.trim() !== value) field.value = value;
    field.classList.toggle("active", value !== "");
  }

  #labelledField(name) {
    const id = `filter-${name}`;
    const field = name in this.#run.choices ? this.#select(name, id) : this.#input(name, id);
    this.#fields.set(name, field);
    const label = el("span", {}, LABELS[name] ?? name);
    return el("label", { for: id, class: `field-${name}` }, label, field, this.#suggestions(name));
  }

  #select(name, id) {
    const options = this.#run.choices[name].map((value) => el("option", { value }, spaced(value)));
    const choose = () => this.#navigation.filter(name, field.value);
    const field = el("select", { id, onchange: choose }, el("option", { value: "" }, "any"), options);
    return field; // named, because choose() reads it
  }

  #input(name, id) {
    const list = name in this.#run.names ? `names-${name}` : null;
    const type = () => this.#navigation.filterSoon(name, field);
    const field = el("input", { id, list, type: "search", autocomplete: "off", spellcheck: "false", oninput: type });
    return field; // named, because type() hands it on
  }

  #suggestions(name) {
    const options = [...(this.#run.names[name] ?? [])].map((value) => el("option", { value }));
    return options.length ? el("datalist", { id: `names-${name}` }, options) : null;
  }
}
