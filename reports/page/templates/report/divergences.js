// The view of divergences: a row each, which opens to its details.

import { causeCards } from "./causes.js";
import { detailSections, messageSection } from "./detail.js";
import { button, byId, code, el, failure, paragraph, soft } from "./elements.js";
import { matchDivergence } from "./matching.js";
import { QUIET, isNew, isQuiet, outcomeOf } from "./outcomes.js";
import { counted, spaced, whole } from "./words.js";

export class DivergenceList {
  #run;
  #link;
  #navigation;
  #form;
  #paging;
  #files;
  #view = byId("view-divergences");
  #rows = new Map();
  // Opened once, a divergence that is known or far below stays in the list when it is closed again.
  #revealed = new Set();
  #justToggled = null;
  #drawn = "";

  constructor({ run, navigation, form, paging, files, editor }) {
    this.#link = (test) => editor.link(test, run.lineOf(test));
    this.#run = run;
    this.#navigation = navigation;
    this.#form = form;
    this.#paging = paging;
    this.#files = files;
  }

  draw(choice, before) {
    for (const id of choice.open) this.#revealed.add(id);
    const asksForQuiet = QUIET.includes(choice.filters.level);
    const matching = this.#run.divergences.filter(matchDivergence(this.#run, choice.filters));
    const shown = matching.filter(
      (divergence) => choice.all || asksForQuiet || !isQuiet(divergence) || this.#revealed.has(divergence.id));
    this.#form.tell(`${whole(shown.length)} of ${whole(this.#run.divergences.length)} shown`);
    if (!asksForQuiet) this.#offerQuiet(matching, choice.all);
    const [rows, more] = this.#paging.page(
      shown, (divergence) => this.#row(divergence), (divergence) => this.#revealed.has(divergence.id));
    for (const divergence of shown) if (this.#rows.has(divergence.id)) this.#syncOpen(divergence, choice.open);
    const cards = choice.filters.cause ? null : causeCards(this.#run, matching, choice.filters);
    this.#place(this.#sentences(matching, shown, choice.open), cards, rows, more);
    this.#scrollToOpened(rows, choice, before);
    this.#justToggled = null;
  }

  focusRow(id) {
    this.#rows.get(id)?.querySelector("button").focus();
  }

  #offerQuiet(matching, isShown) {
    const counts = QUIET.map((level) => [matching.filter((divergence) => divergence.level === level).length, level]);
    const words = counts.filter(([count]) => count).map(([count, level]) => `${whole(count)} ${level}`).join(" and ");
    if (words) this.#form.offerQuiet(words, isShown);
  }

  // What stands above the list: why it is empty, or what it lacks.
  #sentences(matching, shown, open) {
    const { divergences, more } = this.#run;
    const sentences = [];
    if (!divergences.length) sentences.push("No divergence.");
    else if (!divergences.some(isNew)) sentences.push("Nothing is new: no divergence makes this run red.");
    else if (!shown.length && !matching.length) sentences.push("No divergence matches the filters.");
    else if (!matching.some(isNew)) sentences.push("Nothing new matches the filters.");
    const unknown = [...open].filter((id) => !divergences.some((divergence) => divergence.id === id));
    if (unknown.length) sentences.push(`This page has no divergence ${unknown.join(", ")}.`);
    if (more) sentences.push(`${counted(more, "more divergence")} left out of this page: see summary.json.`);
    return sentences;
  }

  // A list that stays the same is left alone: focus and scrolled boxes stay where they are.
  #place(sentences, cards, rows, more) {
    const drawing = JSON.stringify([sentences, cards?.textContent, rows.map((row) => row.dataset.id), more?.textContent]);
    if (drawing === this.#drawn) return;
    this.#drawn = drawing;
    const list = rows.length ? el("ul", { class: "rows" }, rows) : null;
    const said = sentences.map((sentence) => paragraph("say", sentence));
    this.#view.replaceChildren(...[...said, cards, list, more].filter(Boolean));
  }

  // A link may open a divergence anywhere in the list; one that was opened by its own row is in sight.
  #scrollToOpened(rows, choice, before) {
    const [opened] = [...choice.open].filter((id) => !before?.open.has(id) && id !== this.#justToggled);
    rows.find((row) => row.dataset.id === opened)?.scrollIntoView({ block: "start" });
  }

  // Rows are kept: what was read, folded out or scrolled in one is there again when it comes back into the list.
  #row(divergence) {
    if (!this.#rows.has(divergence.id)) this.#rows.set(divergence.id, this.#makeRow(divergence));
    return this.#rows.get(divergence.id);
  }

  #makeRow({ id, op, phase, kind, level, fingerprint, message, cases, tests }) {
    const outcome = outcomeOf({ level, kind });
    const detailId = `detail-${id}`;
    const facts = [
      el("span", { class: "badge" }, el("b", {}, outcome), el("span", {}, spaced(kind))),
      el("span", { class: "place" }, code(op), soft(spaced(phase))),
      el("span", { class: "message" }, message),
      el("span", { class: "size" }, counted(cases, "case"), soft(counted(tests.length, "test"))),
    ];
    const head = button(facts, () => this.#toggle(id), { "aria-expanded": "false", "aria-controls": detailId });
    const attributes = { class: "detail", role: "region", "aria-label": fingerprint, hidden: true };
    const region = el("div", { id: detailId, ...attributes });
    return el("li", { class: `row ${outcome}`, "data-id": id }, el("h3", {}, head), region);
  }

  #toggle(id) {
    const open = new Set(this.#navigation.choice.open);
    if (!open.delete(id)) open.add(id);
    this.#justToggled = id;
    this.#navigation.go({ open });
  }

  #syncOpen(divergence, open) {
    const row = this.#rows.get(divergence.id);
    const region = row.lastChild;
    const isOpen = open.has(divergence.id);
    row.classList.toggle("open", isOpen);
    row.querySelector("button").setAttribute("aria-expanded", String(isOpen));
    if (isOpen && region.hidden) this.#fill(region, divergence);
    region.hidden = !isOpen;
  }

  #fill(region, { id, message }) {
    if (region.dataset.filled) return;
    region.dataset.filled = "loading";
    region.replaceChildren(paragraph("soft", "Loading."));
    this.#files.load(`divergences/${encodeURIComponent(id)}.js`, `detail ${id}`, (detail, sentence) => {
      const sections = () => detailSections(detail, this.#files, this.#link);
      region.replaceChildren(...(detail ? sections() : [messageSection(message), failure(sentence)]));
      // A file that could not be read is tried again when the row is opened again.
      region.dataset.filled = detail ? "yes" : "";
    });
  }
}
