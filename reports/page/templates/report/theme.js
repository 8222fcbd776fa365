// The button that chooses the colours: those of the system, light or dark.

import { byId } from "./elements.js";
import { store, stored } from "./storage.js";

const THEMES = ["system", "light", "dark"];
const STORED = "autotest-colours";

export function watchThemeButton() {
  const chosen = stored(STORED);
  let theme = THEMES.includes(chosen) ? chosen : "system";
  byId("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    store(STORED, theme);
    show(theme);
  });
  show(theme);
}

function show(theme) {
  byId("theme").textContent = `Colours: ${theme}`;
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
