// The button that chooses the colours: those of the system, light or dark.

import { byId } from "./elements.js";

const THEMES = ["system", "light", "dark"];
const STORED = "autotest-colours";

export function watchThemeButton() {
  const stored = withStorage((storage) => storage.getItem(STORED));
  let theme = THEMES.includes(stored) ? stored : "system";
  byId("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    withStorage((storage) => storage.setItem(STORED, theme));
    show(theme);
  });
  show(theme);
}

function show(theme) {
  byId("theme").textContent = `Colours: ${theme}`;
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

// A browser may refuse storage to a page from file://; the choice then lasts as long as the page.
function withStorage(work) {
  try {
    return work(localStorage);
  } catch {
    return null;
  }
}
