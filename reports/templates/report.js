// Draws the lists of a report from the data in the page. Whatever comes from data goes into the page as text nodes and
// attributes, never as markup. What a reader chose lives in the hash of the address, so that a link shows it again.
// One file, though long: inlined in the page, one function keeps every name but `autotest` out of the window.
(() => {
  "use strict";

  const index = JSON.parse(document.getElementById("data").textContent);
  const CHUNK = 200;
  const TYPING_MS = 150;
  const VIEWS = ["divergences", "matrix", "coverage", "run"];
  const FILTERS = ["text", "op", "family", "kind", "phase", "level", "test"];
  // Which filters mean something in which view.
  const APPLIES = { divergences: FILTERS, matrix: FILTERS, coverage: ["text", "op", "phase"], run: [] };
  const CELL_OUTCOMES = ["crashed", "wrong", "refuses", "known", "undecidable", "aligned"];
  const LEVELS = ["crashed", "wrong", "refuses", "stricter", "known", "counted", "undecidable", "aligned"];
  const QUIET = new Set(["known", "counted"]);

  // Elements and words

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== ""));
    return node;
  }
  const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const byId = (id) => document.getElementById(id);
  const words = (name) => name.replaceAll("_", " ");
  const whole = (count) => count.toLocaleString("en");
  const counted = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  function rounded(value, digits) {
    if (value === null || value === undefined) return "-";
    return typeof value === "number" ? String(Number(value.toPrecision(digits))) : String(value);
  }

  const code = (text) => el("code", {}, text);
  const soft = (text) => el("span", { class: "soft" }, text);
  const paragraph = (kind, text) => el("p", { class: kind }, text);
  const failed = (sentence) => el("p", { class: "say failure full", role: "status" }, sentence);
  const list = (items, kind = null) => el("ul", { class: kind }, items.map((item) => el("li", {}, item)));
  const fold = (summary, content) => el("details", {}, el("summary", {}, summary), content);
  const press = (text, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, text);
  const copyButton = (text, what) =>
    el("button", { type: "button", class: "copy", "data-copy": text, "aria-label": `Copy ${what}` }, "Copy");

  function scrollBox(name, table, kind = "scroll") {
    return el("div", { class: kind, role: "group", "aria-label": name, tabindex: "0" }, table);
  }

  function grid(head, rows) {
    const cell = (tag, value, attributes) => el(tag, attributes, ...[value].flat());
    return el("table", {},
      el("thead", {}, el("tr", {}, head.map((name) => cell("th", name, { scope: "col" })))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((value) => cell("td", value, {}))))));
  }

  function bigTable(caption, head, bodies) {
    const names = el("tr", {}, head.map(([name, kind]) => el("th", { scope: "col", class: kind }, name)));
    const table = el("table", {}, el("caption", { class: "unseen" }, caption), el("thead", {}, names), bodies);
    return scrollBox(caption, table, "scroll wide-table");
  }

  // What the reader chose

  function readHash() {
    const given = new URLSearchParams(location.hash.slice(1));
    const view = VIEWS.includes(given.get("view")) && byId(`view-${given.get("view")}`) ? given.get("view") : VIEWS[0];
    const filters = Object.fromEntries(FILTERS.map((name) => [name, given.get(name) ?? ""]));
    const open = new Set((given.get("open") ?? "").split(",").filter(Boolean));
    return { view, filters, open, all: given.get("all") === "1" };
  }

  function writeHash({ view, filters, open, all }) {
    // The view is always named: an empty hash would scroll to the top.
    const said = new URLSearchParams({ view });
    for (const name of FILTERS) if (filters[name]) said.set(name, filters[name]);
    if (all) said.set("all", "1");
    if (open.size) said.set("open", [...open].join(","));
    return `#${said}`;
  }

  let state = readHash();
  let drawn = null;
  let typing = null;
  let toggled = null;
  let limit = CHUNK;

  function go(changes, replace = false) {
    clearTimeout(typing);
    typing = null;
    const hash = writeHash({ ...state, ...changes });
    if (replace) location.replace(hash);
    else location.hash = hash;
    draw(true);
  }

  const noFilters = () => Object.fromEntries(FILTERS.map((name) => [name, ""]));
  const filtered = (name, value, replace) => go({ filters: { ...state.filters, [name]: value.trim() } }, replace);

  // Filters

  const outcomeOf = (d) => (d.level === "wrong" && (d.kind === "crash" || d.kind === "timeout") ? "crashed" : d.level);
  const opsByName = new Map(index.ops.map((row) => [row.op, row]));
  const divergencesByOp = new Map();
  for (const d of index.divergences) divergencesByOp.set(d.op, [...(divergencesByOp.get(d.op) ?? []), d]);
  const NAMES = {
    op: [...new Set([...opsByName.keys(), ...divergencesByOp.keys()])].sort(),
    test: [...index.tests].sort(),
  };
  const isName = { op: new Set(NAMES.op), test: new Set(NAMES.test) };
  const CHOICES = {
    family: [...index.families].sort(),
    kind: [...new Set(index.divergences.map((d) => d.kind))].sort(),
    phase: index.phases,
    level: LEVELS.filter((level) => index.divergences.some((d) => outcomeOf(d) === level) ||
      index.ops.some((row) => Object.values(row.cells).some((cell) => cell[CELL_OUTCOMES.indexOf(level)] > 0))),
  };

  // A whole name means that one alone; anything else is a part of a name.
  function named(field, filters) {
    const value = filters[field];
    if (!value) return () => true;
    if (isName[field].has(value)) return (name) => name === value;
    const part = value.toLowerCase();
    return (name) => name.toLowerCase().includes(part);
  }

  function worded(text) {
    const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (haystack) => parts.every((part) => haystack().includes(part));
  }

  const haystacks = new Map();
  function haystack(d) {
    if (!haystacks.has(d)) {
      const tests = d.tests.map((number) => index.tests[number]);
      haystacks.set(d, [d.id, d.fingerprint, d.op, words(d.phase), d.message, ...tests].join("\n").toLowerCase());
    }
    return haystacks.get(d);
  }

  function divergenceFilter(filters) {
    const [op, test, text] = [named("op", filters), named("test", filters), worded(filters.text)];
    return (d) => op(d.op) &&
      (!filters.kind || d.kind === filters.kind) && (!filters.phase || d.phase === filters.phase) &&
      (!filters.level || outcomeOf(d) === filters.level) &&
      (!filters.family || d.families.some((number) => index.families[number] === filters.family)) &&
      (!filters.test || d.tests.some((number) => test(index.tests[number]))) && text(() => haystack(d));
  }

  function opFilter(filters) {
    const [op, test, text] = [named("op", filters), named("test", filters), worded(filters.text)];
    const phases = filters.phase ? [filters.phase] : index.phases;
    const level = CELL_OUTCOMES.indexOf(filters.level);
    return (row) => {
      const own = (divergencesByOp.get(row.op) ?? []).filter((d) => phases.includes(d.phase));
      return op(row.op) && text(() => row.op.toLowerCase()) &&
        (!filters.phase || row.cells[filters.phase] !== undefined) &&
        (!filters.kind || own.some((d) => d.kind === filters.kind)) &&
        (!filters.level || own.some((d) => outcomeOf(d) === filters.level) ||
          phases.some((phase) => row.cells[phase]?.[level] > 0)) &&
        (!filters.family || row.families.some((number) => index.families[number] === filters.family)) &&
        (!filters.test || row.tests.some((number) => test(index.tests[number])));
    };
  }

  const controls = new Map();
  function control(name) {
    const id = `filter-${name}`;
    const option = (value) => el("option", { value }, words(value));
    const labels = { text: "text", level: "outcome" };
    let node;
    if (name in CHOICES) {
      const options = CHOICES[name].map(option);
      const any = el("option", { value: "" }, "any");
      node = el("select", { id, onchange: () => filtered(name, node.value) }, any, options);
    } else {
      const typed = () => {
        clearTimeout(typing);
        typing = setTimeout(() => filtered(name, node.value, true), TYPING_MS);
      };
      const list = name in NAMES ? `names-${name}` : null;
      node = el("input", { id, list, type: "search", autocomplete: "off", spellcheck: "false", oninput: typed });
    }
    controls.set(name, node);
    const offers = (NAMES[name] ?? []).map((value) => el("option", { value }));
    const names = offers.length ? el("datalist", { id: `names-${name}` }, offers) : null;
    return el("label", { for: id, class: `field-${name}` }, el("span", {}, labels[name] ?? name), node, names);
  }

  const tally = el("span", { role: "status" });
  const clear = press("Clear filters", () => go({ filters: noFilters() }));
  const quiet = el("input", { type: "checkbox", id: "all", onchange: () => go({ all: quiet.checked }) });
  const quietWords = el("span");
  const quietLabel = el("label", { for: "all" }, quiet, quietWords);

  function makeFilters() {
    const form = byId("filters");
    form.addEventListener("submit", (event) => event.preventDefault());
    const fields = el("div", { class: "fields" }, FILTERS.map(control));
    form.append(fields, el("div", { class: "tally" }, tally, quietLabel, clear));
  }

  function syncFilters() {
    const applies = APPLIES[state.view];
    byId("filters").hidden = !applies.length || !(index.ops.length || index.divergences.length);
    for (const [name, node] of controls) {
      const value = state.filters[name];
      const foreign = name in CHOICES && value && ![...node.options].some((option) => option.value === value);
      if (foreign) node.append(el("option", { value }, value));
      // What is being typed stays as it is, a blank at its end included.
      if (typing === null || node !== document.activeElement) if (node.value.trim() !== value) node.value = value;
      node.classList.toggle("active", value !== "");
      const idle = name in CHOICES && CHOICES[name].length < 2 && !value;
      node.parentNode.hidden = idle || !applies.includes(name);
    }
    clear.hidden = !FILTERS.some((name) => state.filters[name]);
    quietLabel.hidden = true;
  }

  // A list shows its first 200 items and those that are kept; the button shows 200 more.
  function chunk(items, build, kept = () => false) {
    const shown = items.filter((item, number) => number < limit || kept(item));
    const rest = items.length - shown.length;
    const more = () => {
      limit += CHUNK;
      draw(true);
    };
    const button = () => press(`Show ${whole(Math.min(rest, CHUNK))} more of ${whole(rest)}`, more, { class: "more" });
    return [shown.map(build), rest > 0 ? button() : null];
  }

  // Divergences

  const rows = new Map();
  // Opened once, a divergence that is known or far below stays in the list when it is closed again.
  const revealed = new Set();
  let listed = "";
  function divergenceRow(d) {
    if (rows.has(d.id)) return rows.get(d.id);
    const outcome = outcomeOf(d);
    const toggle = () => {
      const open = new Set(state.open);
      if (!open.delete(d.id)) open.add(d.id);
      toggled = d.id;
      go({ open });
    };
    const id = `detail-${d.id}`;
    const parts = [
      el("span", { class: "badge" }, el("b", {}, outcome), el("span", {}, words(d.kind))),
      el("span", { class: "place" }, code(d.op), soft(words(d.phase))),
      el("span", { class: "message" }, d.message),
      el("span", { class: "size" }, counted(d.cases, "case"), soft(counted(d.tests.length, "test"))),
    ];
    const button = press("", toggle, { "aria-expanded": "false", "aria-controls": id });
    button.append(...parts);
    const region = el("div", { id, class: "detail", role: "region", "aria-label": d.fingerprint, hidden: true });
    const row = el("li", { class: `row ${outcome}`, "data-id": d.id }, el("h3", {}, button), region);
    rows.set(d.id, row);
    return row;
  }

  function syncOpen(d) {
    const row = rows.get(d.id);
    const open = state.open.has(d.id);
    const region = row.lastChild;
    row.classList.toggle("open", open);
    row.querySelector("button").setAttribute("aria-expanded", String(open));
    if (open && region.hidden) showDetail(d, region);
    region.hidden = !open;
  }

  function drawDivergences(before) {
    const view = byId("view-divergences");
    const matching = index.divergences.filter(divergenceFilter(state.filters));
    const asked = QUIET.has(state.filters.level);
    for (const id of state.open) revealed.add(id);
    const loud = matching.filter((d) => !QUIET.has(d.level));
    const hushed = [...QUIET].map((level) => [matching.filter((d) => d.level === level).length, level]);
    const shown = matching.filter((d) => state.all || asked || !QUIET.has(d.level) || revealed.has(d.id));
    const news = [...state.open].filter((id) => !before?.open.has(id) && id !== toggled);

    tally.textContent = `${whole(shown.length)} of ${whole(index.divergences.length)} shown`;
    const present = hushed.filter(([count]) => count);
    const quietCount = present.map(([count, level]) => `${whole(count)} ${level}`).join(" and ");
    quietLabel.hidden = !quietCount || asked;
    quietWords.textContent = state.all ? `with ${quietCount}` : `show ${quietCount} too, hidden now`;
    quiet.checked = state.all;

    const say = [];
    const isNew = (d) => d.level === "wrong" || d.level === "refuses";
    if (!index.divergences.length) say.push("No divergence.");
    else if (!index.divergences.some(isNew)) say.push("Nothing is new: no divergence makes this run red.");
    else if (!shown.length && !matching.length) say.push("No divergence matches the filters.");
    else if (!loud.some(isNew)) say.push("Nothing new matches the filters.");
    const unknown = [...state.open].filter((id) => !index.divergences.some((d) => d.id === id));
    if (unknown.length) say.push(`This page has no divergence ${unknown.join(", ")}.`);
    if (index.more) say.push(`${counted(index.more, "more divergence")} left out of this page: see summary.json.`);
    const [items, more] = chunk(shown, divergenceRow, (d) => revealed.has(d.id));
    for (const d of shown) if (rows.has(d.id)) syncOpen(d);
    // A list that stays the same is left alone: focus and scrolled boxes stay where they are.
    const listing = JSON.stringify([say, items.map((row) => row.dataset.id), more?.textContent]);
    if (listing !== listed) {
      const drawn = items.length ? el("ul", { class: "rows" }, items) : null;
      view.replaceChildren(...[...say.map((sentence) => paragraph("say", sentence)), drawn, more].filter(Boolean));
    }
    listed = listing;
    items.find((row) => row.dataset.id === news[0])?.scrollIntoView({ block: "start" });
  }

  // Files beside the page, by script tags: a page opened from file:// may not fetch

  const arrived = new Map();
  function load(path, key, done) {
    if (arrived.has(key)) {
      done(arrived.get(key), "");
      return;
    }
    const file = index.base + path;
    const end = (failure) => {
      script.remove();
      done(arrived.get(key) ?? null, arrived.has(key) ? "" : failure);
    };
    const script = el("script", {
      src: file,
      onload: () => end(`${file} is damaged: write the report again.`),
      onerror: () => end(`${file} is missing: keep the folder ${index.base} beside this page.`),
    });
    document.head.append(script);
  }

  function showDetail(d, region) {
    if (region.dataset.filled) return;
    region.dataset.filled = "loading";
    region.replaceChildren(paragraph("soft", "Loading."));
    load(`divergences/${encodeURIComponent(d.id)}.js`, `detail ${d.id}`, (detail, failure) => {
      const instead = () => [part("Message", paragraph("whole", d.message)), failed(failure)];
      region.replaceChildren(...(detail ? detailParts(detail) : instead()));
      // A file that could not be read is tried again when the row is opened again.
      region.dataset.filled = detail ? "yes" : "";
    });
  }

  // One divergence

  const part = (title, ...children) => el("section", {}, el("h4", {}, title), ...children);
  const fullPart = (title, ...children) => fill(part(title, ...children), { class: "full" }, []);

  function detailParts(detail) {
    const evidence = detail.evidence ?? {};
    const alone = { view: VIEWS[0], filters: noFilters(), all: false, open: new Set([detail.id]) };
    const link = el("a", { href: writeHash(alone), class: "link" }, "link");
    const long = detail.message.includes("\n") || detail.message.length > 200;
    const copied = (text, what) => [code(text), " ", copyButton(text, what)];
    const parts = [
      el("div", { class: "full pair" },
        part("Fingerprint", copied(detail.fingerprint, "fingerprint"), " ", link),
        part("Replay", copied(detail.replay, "replay command"))),
      detail.repro ? reproPart(detail.repro, copied) : null,
      detail.reason ? fullPart("Known, because", paragraph("whole", detail.reason)) : null,
      long ? fullPart("Message", paragraph("whole", detail.message)) : null,
      evidence.blame ? blamePart(evidence.blame) : null,
      evidence.shrunk ? shrunkPart(evidence.shrunk) : null,
      evidence.program ? programPart(evidence.program, evidence.blamed_line) : null,
      evidence.words?.length ? part("In words", list(evidence.words)) : null,
      evidence.facts?.length ? factsPart(evidence.facts) : null,
      evidence.worst?.length ? worstPart(evidence.worst) : null,
      evidence.heat ? heatPart(evidence.heat) : null,
      evidence.histogram?.length ? histogramPart(evidence.histogram) : null,
      evidence.last_words ? lastWordsPart(evidence.last_words) : null,
      detail.evidence ? null : paragraph("full soft", "No evidence was recorded for this divergence."),
      testsPart(detail),
    ];
    return parts.filter((node) => node !== null);
  }

  const reproPart = (repro, copied) => repro.script === null
    ? fullPart("Repro", paragraph("soft", repro.words))
    : fullPart("Repro", copied(repro.path, "path of the repro"), paragraph("soft", repro.words),
      el("details", {}, el("summary", {}, "repro.py"), copyButton(repro.script, "repro.py"),
        scrollBox("repro.py", el("pre", { class: "program" }, repro.script))),
      el("details", {}, el("summary", {}, "issue.md"), copyButton(repro.issue, "issue.md"),
        scrollBox("issue.md", el("pre", { class: "program" }, repro.issue))));

  const lastWordsPart = (text) => fullPart("Last words of the target", el("pre", { class: "whole" }, text));

  function blamePart(blame) {
    const { verdict, reason, worst } = blame;
    const words = el("p", { class: "whole" }, el("strong", {}, verdict), `: ${reason}`);
    if (!worst) return fullPart("Blame", words);
    const place = worst.index.length ? ` at [${worst.index.join(", ")}]` : "";
    const apart = (ulp) => typeof ulp === "number" ? (ulp < 1000 ? rounded(ulp, 3) : whole(Math.round(ulp))) : rounded(ulp, 9);
    const table = grid([`side${place}`, "value", "ULP off"], [
      ["reference", rounded(worst.reference, 9), apart(worst.reference_ulp)],
      ["target", rounded(worst.target, 9), apart(worst.target_ulp)],
      ["exact, in float64", rounded(worst.exact, 9), "-"],
    ]);
    table.classList.add("numbers");
    return fullPart("Blame", words, scrollBox("Blame", table));
  }

  function shrunkPart(shrunk) {
    if (!shrunk.program) return part("Not shrunk", paragraph("whole soft", shrunk.note));
    const [calls, elements] = [counted(shrunk.calls, "call"), counted(shrunk.elements, "element")];
    const text = [...shrunk.values, "", shrunk.program].join("\n").replace(/^\n/, "");
    return part(`Shrunk to ${calls}, ${elements}`,
      scrollBox("Shrunk program", el("pre", { class: "program" },
        [...shrunk.values.map((value) => el("span", { class: "line" }, el("span", { class: "mark" }, " "), value)),
          ...programLines(shrunk.program, shrunk.blamed_line)])),
      copyButton(text, "shrunk program"),
      shrunk.note ? paragraph("soft", shrunk.note) : null);
  }

  function programLines(program, blamed) {
    return program.replace(/\n+$/, "").split("\n").map((line, number) => {
      const here = number + 1 === blamed;
      const gutter = el("span", { class: "mark" }, here ? ">" : " ");
      return here ? el("mark", { class: "line blamed" }, gutter, line) : el("span", { class: "line" }, gutter, line);
    });
  }

  function programPart(program, blamed) {
    const box = scrollBox("Program", el("pre", { class: "program" }, programLines(program, blamed)));
    return part("Program", box, copyButton(program, "program"));
  }

  const seenInGraph = (values) => values.some((value) => value !== null && value !== undefined);

  function factsPart(facts) {
    const graph = seenInGraph(facts.map((row) => row[3]));
    const head = ["fact", "reference", index.target, ...(graph ? [`${index.target} graph`] : [])];
    const compared = (value, reference) => {
      const differs = value !== null && String(value) !== String(reference);
      return differs ? el("b", { class: "fails" }, `\u2260 ${value}`) : rounded(value, 17);
    };
    const body = facts.map(([name, reference, ...seen]) => {
      const values = seen.slice(0, graph ? 2 : 1);
      return [name, rounded(reference, 17), ...values.map((value) => compared(value, reference))];
    });
    return part("Facts", scrollBox("Facts", grid(head, body)));
  }

  function worstPart(worst) {
    const graph = seenInGraph(worst.map((row) => row.graph));
    const targets = graph ? [index.target, `${index.target} graph`] : [index.target];
    const head = ["index", "reference", ...targets, "absolute", "relative", "ULP"];
    const value = (number, digits) => el("span", { title: rounded(number, 17) }, rounded(number, digits));
    const body = worst.map((row) => [
      `[${row.index.join(", ")}]`,
      ...[row.reference, row.eager, ...(graph ? [row.graph] : [])].map((number) => value(number, 9)),
      ...[row.absolute, row.relative].map((number) => value(number, 3)),
      typeof row.ulp === "number" ? whole(row.ulp) : rounded(row.ulp, 9),
    ]);
    const table = grid(head, body);
    table.classList.add("numbers");
    return part("Worst elements", scrollBox("Worst elements", table));
  }

  function testsPart(detail) {
    const items = detail.tests.map(({ test, cases, count }) => {
      const rest = count - cases.length;
      const keys = [...cases.map(code), ...(rest > 0 ? [soft(`and ${counted(rest, "more case")}`)] : [])];
      return [code(test), fold(counted(count, "case"), list(keys))];
    });
    return part("Tests", list(items));
  }

  // Plots

  const STEPS = 6;
  const odd = (cell) => typeof cell === "string";

  // Upper bounds of the steps: even ones, or even in the logarithm where the values span more than two decades.
  function bounds(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (low === high) return [high];
    const [from, to] = [Math.log10(low), Math.log10(high)];
    const steps = Array.from({ length: STEPS }, (_, step) => (step + 1) / STEPS);
    const bound = (share) => (to - from > 2 ? 10 ** (from + (to - from) * share) : low + (high - low) * share);
    return steps.map((share) => (share === 1 ? high : bound(share)));
  }

  function swatch(kind, label) {
    const square = svg("rect", { class: kind, width: "100%", height: "100%" });
    return el("span", {}, svg("svg", { "aria-hidden": "true" }, square), label);
  }

  function plot(width, height, name) {
    const told = `${name}; its numbers are in the table below`;
    return svg("svg", { class: "plot", width, height, role: "img", "aria-label": told });
  }

  const label = (x, y, anchor, text, kind = null) => svg("text", { class: kind, x, y, "text-anchor": anchor }, text);

  function heatPart(heat) {
    const flat = heat.cells.flat();
    const positive = flat.filter((cell) => typeof cell === "number" && cell > 0);
    const limits = positive.length ? bounds(positive) : [];
    const first = STEPS + 1 - limits.length;
    const step = (cell) => (cell > 0 ? first + Math.max(0, limits.findIndex((bound) => cell <= bound)) : 0);
    const size = Math.max(7, Math.min(30, Math.floor(600 / heat.columns)));
    const pad = 30;
    const name = `Heat map of the difference, ${heat.rows} by ${heat.columns} cells`;
    const drawing = plot(pad + size * heat.columns, 16 + size * heat.rows, name);
    const every = Math.ceil(22 / size);
    for (let column = 0; column < heat.columns; column += every) {
      drawing.append(label(pad + (column + 0.5) * size, 10, "middle", column, "faint"));
    }
    heat.cells.forEach((cells, row) => {
      const y = 16 + row * size;
      if (row % every === 0) drawing.append(label(pad - 5, y + size / 2 + 4, "end", row, "faint"));
      cells.forEach((cell, column) => {
        const x = pad + column * size;
        const kind = cell === null ? "none" : odd(cell) ? "odd" : `heat-${step(cell)}`;
        const title = svg("title", {}, `row ${row}, column ${column}: ${cell ?? "not compared"}`);
        drawing.append(svg("rect", { class: `cell ${kind}`, x, y, width: size, height: size }, title));
        if (odd(cell) && size >= 26) {
          drawing.append(svg("rect", { class: "plate", x: x + 2, y: y + size / 2 - 6, width: size - 4, height: 12 }),
            label(x + size / 2, y + size / 2 + 4, "middle", cell.slice(0, 4), "over"));
        }
      });
    });
    const to = limits.length > 1 ? "to " : "";
    const legend = [
      flat.some((cell) => cell === 0) ? swatch("heat-0", "0") : null,
      ...limits.map((bound, number) => swatch(`heat-${first + number}`, `${to}${rounded(bound, 3)}`)),
      flat.some(odd) ? swatch("odd", `not finite: ${[...new Set(flat.filter(odd))].join(", ")}`) : null,
      flat.includes(null) ? swatch("none", "not compared") : null,
    ];
    const numbered = heat.cells.map((cells, row) => [String(row), ...cells.map((cell) => rounded(cell, 17))]);
    const numbers = grid(["", ...Array.from({ length: heat.columns }, (_, column) => String(column))], numbered);
    const shape = `of shape [${heat.shape.join(", ")}]`;
    return part("Where it differs", el("figure", {},
      scrollBox("Heat map", drawing), el("div", { class: "legend" }, legend),
      el("figcaption", { class: "soft" }, `|difference| of a tensor ${shape}${heat.note ? `; ${heat.note}` : ""}`)),
      fold("numbers", scrollBox("Numbers of the heat map", numbers)));
  }

  // Three or more empty bins in a row become one line without a count.
  function gaps(bins) {
    const drawn = [];
    for (let start = 0; start < bins.length; ) {
      let end = start;
      while (end < bins.length && bins[end][1] === 0) end += 1;
      if (end - start >= 3) drawn.push([`${end - start} empty bins`, null]);
      else drawn.push(...bins.slice(start, Math.max(end, start + 1)));
      start = Math.max(end, start + 1);
    }
    return drawn;
  }

  function histogramPart(bins) {
    const [height, letter, width] = [18, 6.7, 240];
    const rows = gaps(bins);
    const left = 10 + Math.ceil(letter * Math.max(...rows.map(([bin]) => bin.length)));
    const most = Math.max(1, ...bins.map(([, count]) => count));
    const drawing = plot(left + width + 60, rows.length * height, "Histogram of the errors in ULP");
    rows.forEach(([bin, count], number) => {
      const y = number * height;
      const text = label(left - 8, y + 13, "end", bin, count === null ? "faint" : null);
      if (count === null) {
        drawing.append(text);
        return;
      }
      const kind = bin === "not finite" ? "bar odd" : "bar";
      const length = count ? Math.max(1, (count / most) * width) : 0;
      drawing.append(svg("g", {}, svg("title", {}, `${bin}: ${counted(count, "element")}`), text,
        svg("rect", { class: kind, x: left, y: y + 3, width: length, height: height - 5 }),
        label(left + length + 6, y + 13, "start", whole(count), "faint")));
    });
    const numbers = grid(["ULP", "elements"], bins.map(([bin, count]) => [bin, whole(count)]));
    return part("Errors in ULP", el("figure", {}, scrollBox("Histogram", drawing)),
      fold("numbers", scrollBox("Numbers of the histogram", numbers)));
  }

  // Matrix

  function showDivergences(op, phase) {
    const filters = { ...noFilters(), op, phase };
    const found = index.divergences.filter(divergenceFilter(filters));
    go({ view: VIEWS[0], filters, open: new Set(), all: found.every((d) => QUIET.has(d.level)) });
    byId("tab-divergences").focus();
  }

  function matrixCell(row, phase) {
    const cell = row.cells[phase];
    const checked = cell ? sum(cell.slice(0, CELL_OUTCOMES.length)) : 0;
    const unchecked = cell ? cell[CELL_OUTCOMES.length] : 0;
    const never = unchecked ? `${counted(unchecked, "case")} not checked here` : null;
    if (!checked) return el("td", { class: "soft", title: never }, "-");
    const worst = cell.findIndex((count) => count > 0);
    const outcome = CELL_OUTCOMES[worst];
    const told = cell.map((count, number) => `${whole(count)} ${CELL_OUTCOMES[number] ?? "not checked"}`);
    const every = outcome === "aligned" ? whole(checked) : `all ${whole(checked)}`;
    const share = cell[worst] === checked ? every : `${whole(cell[worst])} of ${whole(checked)}`;
    const content = [el("b", {}, outcome), " ", el("span", {}, share)];
    const linked = (divergencesByOp.get(row.op) ?? []).some((d) => d.phase === phase);
    const title = told.filter((_, number) => cell[number]).join(", ");
    return el("td", { class: `outcome ${outcome}`, title },
      linked ? press(content, () => showDivergences(row.op, phase)) : content);
  }

  const worstOf = (row) => Math.min(...index.phases.map((phase) => {
    const found = (row.cells[phase] ?? []).findIndex((count) => count > 0);
    return found < 0 ? CELL_OUTCOMES.length : found;
  }));

  let unfolded = false;
  function drawMatrix() {
    const matching = index.ops.filter(opFilter(state.filters));
    const phases = index.phases.filter((phase) => !state.filters.phase || phase === state.filters.phase);
    const calm = CELL_OUTCOMES.indexOf("aligned");
    const folded = new Set(matching.filter((row) => worstOf(row) >= calm));
    // Folded only where something else is worth a look, and no filter asks for them by name.
    const open = unfolded || folded.size === matching.length || state.filters.level === "aligned";
    const shown = open ? matching : matching.filter((row) => !folded.has(row));
    tally.textContent = `${whole(shown.length)} of ${counted(index.ops.length, "op")} shown`;
    const [body, more] = chunk(shown, (row) => {
      const linked = divergencesByOp.has(row.op);
      const name = linked ? press(code(row.op), () => showDivergences(row.op, "")) : code(row.op);
      return el("tr", {}, el("th", { scope: "row" }, name), phases.map((phase) => matrixCell(row, phase)));
    });
    const head = [["op"], ...phases.map((phase) => [words(phase)])];
    const caption = "The worst outcome of each op in each phase, and its share of the cases";
    const table = bigTable(caption, head, el("tbody", {}, body));
    const flip = () => {
      unfolded = !unfolded;
      draw(true);
    };
    const aligned = [...folded].filter((row) => worstOf(row) === calm).length;
    const unchecked = folded.size - aligned;
    const note = [
      aligned ? `${counted(aligned, "op")} aligned in every phase checked` : "",
      unchecked ? `${counted(unchecked, "op")} checked in no phase` : "",
    ].filter(Boolean).join(", ");
    const folds = folded.size && folded.size < matching.length && state.filters.level !== "aligned";
    byId("view-matrix").replaceChildren(...[
      shown.length ? table : paragraph("say", "No op matches the filters."),
      more,
      folds ? press(`${open ? "Hide" : "Show"} ${note}`, flip, { class: "more", "aria-expanded": String(open) }) : null,
    ].filter(Boolean));
  }

  // Coverage

  let coverageAsked = false;
  function drawCoverage() {
    tally.textContent = "";
    if (arrived.has("coverage")) {
      byId("view-coverage").replaceChildren(...coverageParts(arrived.get("coverage")));
    } else if (!coverageAsked) {
      coverageAsked = true;
      load("coverage.js", "coverage", (data, failure) => {
        coverageAsked = Boolean(data);
        if (data) draw(true);
        else byId("view-coverage").replaceChildren(failed(failure));
      });
    }
  }

  function coverageParts(data) {
    const [op, text] = [named("op", state.filters), worded(state.filters.text)];
    const kept = (phase) => !state.filters.phase || phase === state.filters.phase;
    const chosen = data.phases.map((phase, number) => [phase, number]).filter(([phase]) => kept(phase));
    const wanted = (name, dtype) => op(name) && text(() => `${name} ${dtype}`.toLowerCase());
    const rowsOf = ([name, dtypes]) => [name, Object.entries(dtypes).filter(([dtype]) => wanted(name, dtype))];
    const shown = data.ops.map(rowsOf).filter(([, dtypes]) => dtypes.length);
    tally.textContent = `${whole(shown.length)} of ${counted(data.ops.length, "op")} shown`;
    const number = (count) => el("td", { class: count ? "number" : "number soft" }, count ? whole(count) : "-");
    const rowOf = (dtype, checked, first) =>
      el("tr", {}, first, el("td", {}, code(dtype)), chosen.map(([, at]) => number(checked[at])));
    const [bodies, more] = chunk(shown, ([name, dtypes]) => {
      const first = el("th", { scope: "rowgroup", rowspan: dtypes.length }, code(name));
      return el("tbody", {}, dtypes.map(([dtype, checked], at) => rowOf(dtype, checked, at ? null : first)));
    });
    const head = [["op"], ["dtype"], ...chosen.map(([phase]) => [words(phase), "number"])];
    const nothing = data.ops.length ? "No op matches the filters." : "No case was checked.";
    return [
      ...(data.registry ? registryParts(data.registry, text) : []),
      ...(data.untested?.length ? untestedParts(data.untested, text) : []),
      el("h2", {}, "Checked cases by op, dtype and phase"),
      shown.length ? bigTable("Checked cases by op, dtype and phase", head, bodies) : paragraph("say", nothing),
      more,
    ].filter(Boolean);
  }

  function namesParts(title, sentence, names, text) {
    const found = names.filter((name) => text(() => name.toLowerCase()));
    const listed = list(found.map(code), "names");
    return [el("h2", {}, title), paragraph("soft", sentence), fold(counted(found.length, "name"), listed)];
  }

  function untestedParts(names, text) {
    return namesParts("Ops that no test of this run calls", `Both torch and ${index.target} have them.`, names, text);
  }

  function registryParts({ names, touched }, text) {
    const known = new Set(touched);
    const untouched = names.filter((name) => !known.has(name));
    const hit = names.length - untouched.length;
    // Rounded down: 100 % means all of them.
    const percent = names.length ? Math.floor((hit * 1000) / names.length) / 10 : 0;
    const bar = svg("svg", { class: "share", "aria-hidden": "true" },
      svg("rect", { class: "whole", width: "100%", height: "100%" }),
      svg("rect", { class: "part", width: `${percent}%`, height: "100%" }));
    const types = counted(names.length, "op type");
    const sentence = `${whole(hit)} of ${types} registered in ${index.target} ran in this run: ${percent} %.`;
    const never = "Registered in the target, but no program of this run executed them.";
    const rest = untouched.length ? namesParts("Untouched op types", never, untouched, text) : [];
    return [el("h2", {}, "Registry"), el("p", {}, sentence), bar, ...rest];
  }

  // The page

  const DRAW = { divergences: drawDivergences, matrix: drawMatrix, coverage: drawCoverage, run: () => {} };

  function draw(again = false) {
    if (!again && location.hash === drawn) return;
    const before = drawn === null ? null : state;
    drawn = location.hash;
    state = readHash();
    const listing = ({ view, filters, all }) => JSON.stringify([view, filters, all]);
    if (!before || listing(before) !== listing(state)) limit = CHUNK;
    for (const view of VIEWS) {
      const tab = byId(`tab-${view}`);
      if (!tab) continue;
      const current = view === state.view;
      tab.setAttribute("aria-selected", String(current));
      tab.tabIndex = current ? 0 : -1;
      byId(`view-${view}`).hidden = !current;
    }
    syncFilters();
    DRAW[state.view](before);
    toggled = null;
  }

  function makeTabs() {
    const filled = (view) => index.ops.length || !["matrix", "coverage"].includes(view);
    const present = VIEWS.filter((view) => byId(`tab-${view}`) && filled(view));
    for (const view of VIEWS) {
      const tab = byId(`tab-${view}`);
      if (!tab) continue;
      tab.hidden = !present.includes(view);
      tab.addEventListener("click", () => go({ view }));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = present[(present.indexOf(view) + step + present.length) % present.length];
        go({ view: next });
        byId(`tab-${next}`).focus();
      });
    }
    const loud = index.divergences.filter((d) => !QUIET.has(d.level)).length;
    if (loud) byId("tab-divergences").append(` ${whole(loud + index.more)}`);
  }

  function move(step) {
    const buttons = [...document.querySelectorAll("#view-divergences .row h3 button")];
    const at = buttons.indexOf(document.activeElement.closest(".row")?.querySelector("h3 button"));
    const next = at < 0 ? (step > 0 ? 0 : buttons.length - 1) : at + step;
    buttons[next]?.focus();
    buttons[next]?.scrollIntoView({ block: "nearest" });
  }

  function escape(field) {
    if (field && field.value) {
      filtered([...controls].find(([, node]) => node === field)[0], "");
    } else if (state.open.size && state.view === VIEWS[0]) {
      const here = document.activeElement.closest(".row")?.dataset.id;
      const id = state.open.has(here) ? here : [...state.open].pop();
      go({ open: new Set([...state.open].filter((other) => other !== id)) });
      rows.get(id)?.querySelector("button").focus();
    } else {
      go({ filters: noFilters() });
    }
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = [...controls.values()].find((node) => node === event.target) ?? null;
    if (event.key === "Escape") escape(field);
    else if (field) return;
    else if (event.key === "/" && !byId("filters").hidden) controls.get("text").focus();
    else if (event.key === "j" && state.view === VIEWS[0]) move(1);
    else if (event.key === "k" && state.view === VIEWS[0]) move(-1);
    else if (event.key.startsWith("Arrow") && event.target.matches(".row h3 button")) {
      if (event.key === "ArrowDown") move(1);
      else if (event.key === "ArrowUp") move(-1);
      else return;
    } else return;
    event.preventDefault();
  }

  // Served by plain http, as many build servers do, a page has no clipboard of its own but may copy a selection.
  async function toClipboard(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const before = document.activeElement;
      const field = el("textarea", { class: "unseen" });
      field.value = text;
      document.body.append(field);
      field.select();
      const copied = document.execCommand("copy");
      field.remove();
      before.focus({ preventScroll: true });
      return copied;
    }
  }

  async function onCopy(event) {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = button.dataset.copy;
    button.textContent = (await toClipboard(text)) ? "Copied" : "Select and copy by hand";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  }

  const THEMES = ["system", "light", "dark"];
  function makeTheme() {
    let theme = "system";
    // A browser may refuse storage to a page from file://; the choice then lasts as long as the page.
    const stored = (work) => {
      try {
        return work();
      } catch {
        return null;
      }
    };
    const show = () => {
      byId("theme").textContent = `Colours: ${theme}`;
      if (theme === "system") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = theme;
    };
    const kept = stored(() => localStorage.getItem("autotest-colours"));
    if (THEMES.includes(kept)) theme = kept;
    byId("theme").addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      stored(() => localStorage.setItem("autotest-colours", theme));
      show();
    });
    show();
  }

  window.autotest = Object.freeze({
    detail: (data) => void arrived.set(`detail ${data.id}`, data),
    coverage: (data) => void arrived.set("coverage", data),
  });
  document.documentElement.classList.add("js");
  makeTheme();
  makeTabs();
  makeFilters();
  window.addEventListener("hashchange", () => draw());
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onCopy);
  draw();
})();
