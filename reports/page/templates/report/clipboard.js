// The copy buttons, those of the page itself included: data-copy has the text.

import { el } from "./elements.js";

const TOLD_MS = 1500;

export function watchCopyButtons() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    button.textContent = (await copy(button.dataset.copy)) ? "Copied" : "Select and copy by hand";
    setTimeout(() => (button.textContent = "Copy"), TOLD_MS);
  });
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

// Served by plain http, as many build servers do, a page has no clipboard of its own but may copy a selection.
function copySelection(text) {
  const before = document.activeElement;
  const field = el("textarea", { class: "unseen" });
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  before.focus({ preventScroll: true });
  return isCopied;
}
