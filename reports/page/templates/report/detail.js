// What an opened divergence shows: how to replay it, and the evidence that was kept of it.

import { VIEWS, noFilters, writeHash } from "./address.js";
import { graphSection } from "./callgraph.js";
import { code, copyButton, el, folded, list, paragraph, scrollBox, soft } from "./elements.js";
import { heatMapSection } from "./heatmap.js";
import { histogramSection } from "./histogram.js";
import { lossesSection } from "./losses.js";
import { isNew } from "./outcomes.js";
import { programSection, shrunkSection } from "./program.js";
import { sampleSection } from "./scatter.js";
import { fullSection, section } from "./section.js";
import { sidesSection } from "./sides.js";
import { blameSection, factsSection, worstSection } from "./values.js";
import { counted } from "./words.js";

const LONG_MESSAGE = 200;

// A detail without evidence has null for it; evidence that was recorded may still lack any of its parts.
// link gives the link that opens a test by its name, or null.
export function detailSections(detail, files, link) {
  const isLong = detail.message.includes("\n") || detail.message.length > LONG_MESSAGE;
  return [
    identity(detail),
    detail.repro ? reproSection(detail.repro) : null,
    detail.reason ? fullSection(detail.level === "known" ? "Known, because" : "Like it", paragraph("whole", detail.reason)) : null,
    detail.seen ? fullSection("Through time", paragraph("soft", detail.seen)) : null,
    isLong ? fullSection("Message", paragraph("whole", detail.message)) : null,
    ...evidenceSections(detail.evidence ?? {}, detail, files),
    detail.evidence ? null : paragraph("full soft", "No evidence was recorded for this divergence."),
    testsSection(detail.tests, link),
  ].filter((node) => node !== null);
}

// The message of the list, for want of the detail file with the rest.
export const messageSection = (message) => section("Message", paragraph("whole", message));

function evidenceSections(evidence, { target, phase, stages = [] }, files) {
  return [
    evidence.blame || stages.length ? blameSection(evidence.blame, stages) : null,
    evidence.losses ? lossesSection(evidence.losses, target) : null,
    evidence.shrunk ? shrunkSection(evidence.shrunk) : null,
    evidence.program ? programSection(evidence.program, evidence.blamed_line, evidence.inputs) : null,
    evidence.words?.length ? section("In words", list(evidence.words)) : null,
    evidence.facts?.length ? factsSection(evidence.facts, target) : null,
    evidence.worst?.length ? worstSection(evidence.worst, target) : null,
    evidence.whole ? sidesSection(evidence.whole, target, phase) : null,
    evidence.graph ? graphSection(evidence.graph, files) : null,
    evidence.sample?.elements.length ? sampleSection(evidence.sample, target, files) : null,
    evidence.heat ? heatMapSection(evidence.heat) : null,
    evidence.histogram?.length ? histogramSection(evidence.histogram) : null,
    evidence.last_words ? lastWordsSection(evidence.last_words) : null,
  ];
}

const copyable = (text, what) => [code(text), " ", copyButton(text, what)];

function identity(detail) {
  const { id, fingerprint, replay } = detail;
  const alone = { view: VIEWS[0], filters: noFilters(), all: false, open: new Set([id]) };
  const link = el("a", { href: writeHash(alone), class: "link" }, "link");
  return el("div", { class: "full pair" },
    section("Fingerprint", copyable(fingerprint, "fingerprint"), " ", link),
    section("Replay", copyable(replay, "replay command")),
    isNew(detail) ? section("Accept", copyable(`autotest accept ${id} --reason "..."`, "accept command")) : null);
}

function reproSection({ script, issue, path, words }) {
  if (script === null) return fullSection("Repro", paragraph("soft", words));
  const file = (name, text) =>
    folded(name, copyButton(text, name), scrollBox(name, el("pre", { class: "program" }, text)));
  return fullSection("Repro", copyable(path, "path of the repro"), paragraph("soft", words),
    file("repro.py", script), file("issue.md", issue));
}

const lastWordsSection = (text) => fullSection("Last words of the target", el("pre", { class: "whole" }, text));

function testsSection(tests, link) {
  const items = tests.map(({ test, cases, count }) => {
    const rest = count - cases.length;
    const keys = [...cases.map(code), ...(rest > 0 ? [soft(`and ${counted(rest, "more case")}`)] : [])];
    return [code(test), " ", link(test), folded(counted(count, "case"), list(keys))];
  });
  return section("Tests", list(items));
}
