// What the browser keeps: the theme and whether letters are keys, shared with the HTML report's words.

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is off: the choice lasts as long as the page.
  }
}

/** @param {string} name */
export function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Takes the theme that was chosen before. */
export function takeTheme() {
  const theme = recall("proof-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}

/** Light where it is dark, and dark where it is light. */
export function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  remember("proof-theme", root.dataset.theme);
}
