// Links that open a test at its line, where the reader says how: in an editor, or where the source is shown.
// The pattern is the reader's own, for one report is read on many machines: vscode://file{path}:{line}

import { byId, el } from "./elements.js";
import { store, stored } from "./storage.js";

const STORED = "autotest-editor";
// What a link may begin with. Markup that runs is no place of a test.
const LINK = /^(?!javascript:|data:|vbscript:|blob:)[a-z][a-z0-9+.-]*:./i;

export class Editor {
  #root;
  #field = byId("editor");
  #pattern = stored(STORED) ?? "";

  constructor(root, navigation) {
    this.#root = root;
    this.#field.value = this.#pattern;
    this.#field.addEventListener("change", () => {
      this.#pattern = this.#field.value.trim();
      store(STORED, this.#pattern);
      this.#check();
      navigation.redraw();
    });
    this.#check();
  }

  // A link to the line of a test's file, null where that is not known or the reader has chosen nothing.
  link(test, line) {
    const href = line === null ? null : placeOf(this.#pattern, this.#root, test.split("::")[0], line);
    return href && el("a", { class: "link", href, "aria-label": `Open ${test}` }, "open");
  }

  #check() {
    const isWrong = this.#pattern !== "" && !LINK.test(this.#pattern);
    this.#field.setCustomValidity(isWrong ? "A link is wanted, such as vscode://file{path}:{line}" : "");
    this.#field.setAttribute("aria-invalid", String(isWrong));
  }
}

// Where a pattern leads: {path} is the whole path of a file, {file} the one below the folder of the run.
export function placeOf(pattern, root, file, line) {
  if (!LINK.test(pattern)) return null;
  const path = file.startsWith("/") ? file : `${root}/${file}`;
  const parts = { path: encodeURI(path), file: encodeURI(file), line };
  return pattern.replace(/\{(path|file|line)\}/g, (_, name) => parts[name]);
}
