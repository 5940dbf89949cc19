// Puts every section into its place.

const SECTIONS = {
  leaderboard,
  differences: differencesSection,
  queries: queriesSection,
  measures: measuresSection,
};

/** A button between light and dark, which starts with what the system prefers. */
function themeSwitch() {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const button = make("button", { type: "button", class: "theme" });
  const redraw = () => {
    button.textContent = isDark() ? "Light colors" : "Dark colors";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  });
  prefersDark.addEventListener("change", redraw);
  redraw();
  return button;
}

document.body.append(live, tip);
document.querySelector("header")?.append(themeSwitch());
document.addEventListener("scroll", moveTip, { capture: true, passive: true });
document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
for (const [id, fill] of Object.entries(SECTIONS)) {
  const section = document.getElementById(id);
  if (section) fill(section);
}
