// @ts-check
// The theme: the system's, unless the reader chose one. Runs before the first paint.
const root = document.documentElement;
try {
  const kept = localStorage.getItem("drover.theme");
  if (kept) root.dataset.theme = kept;
} catch {
  // storage may be closed
}
addEventListener("click", (event) => {
  if (!(event.target instanceof Element) || !event.target.closest("[data-action=theme]")) return;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  try {
    localStorage.setItem("drover.theme", root.dataset.theme);
  } catch {
    // then the choice lasts for this page
  }
});
