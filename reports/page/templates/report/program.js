// Programs, with a mark at the line that is blamed.

import { code, copyButton, el, paragraph, scrollBox } from "./elements.js";
import { section } from "./section.js";
import { counted } from "./words.js";

// A case's program below the values of its inputs; older records hold none.
export function programSection(program, blamedLine, inputs = []) {
  const lines = [...inputs.map((value) => programLine(value)), ...programLines(program, blamedLine)];
  const text = [...inputs, "", program].join("\n").replace(/^\n/, "");
  return section("Program", programBox("Program", lines), copyButton(text, "program"));
}

// Likewise the simplest program found, and the command that checks it, if there is one; or why nothing was found.
export function shrunkSection({ program, blamed_line: blamedLine, values, calls, elements, note, check }) {
  if (!program) return section("Not shrunk", paragraph("whole soft", note));
  const lines = [...values.map((value) => programLine(value)), ...programLines(program, blamedLine)];
  const text = [...values, "", program].join("\n").replace(/^\n/, "");
  return section(`Shrunk to ${counted(calls, "call")}, ${counted(elements, "element")}`,
    programBox("Shrunk program", lines), copyButton(text, "shrunk program"), note ? paragraph("soft", note) : null,
    check ? el("div", {}, code(check), " ", copyButton(check, "check command")) : null);
}

const programBox = (name, lines) => scrollBox(name, el("pre", { class: "program" }, lines));

function programLines(program, blamedLine) {
  const lines = program.replace(/\n+$/, "").split("\n");
  return lines.map((line, index) => programLine(line, index + 1 === blamedLine));
}

function programLine(line, isBlamed = false) {
  const mark = el("span", { class: "mark" }, isBlamed ? ">" : " ");
  return isBlamed ? el("mark", { class: "line blamed" }, mark, line) : el("span", { class: "line" }, mark, line);
}
