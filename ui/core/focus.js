// @ts-check
// The keyboard's place on another page: its top, or the link that was opened there before.

/** Maximum time for the link to appear: its list is read first, from a busy server perhaps more than once. */
const WAIT_MS = 60_000;

/**
 * Moves the focus to `main`, and from there to the link once it is shown, unless the focus was moved meanwhile.
 * @param {HTMLElement} main
 * @param {string | null} href of the link; null: none
 * @returns {(() => void) | undefined} ends the wait
 */
export function focusPage(main, href) {
  main.focus({ preventScroll: true });
  if (!href) return undefined;
  const selector = `a[href="${CSS.escape(href)}"]`;
  const isDone = () => {
    const anchor = /** @type {HTMLElement | null} */ (main.querySelector(selector));
    if (document.activeElement === main) anchor?.focus();
    return anchor !== null || document.activeElement !== main;
  };
  if (isDone()) return undefined;
  const observer = new MutationObserver(() => isDone() && end());
  const timer = setTimeout(() => end(), WAIT_MS);
  const end = () => {
    observer.disconnect();
    clearTimeout(timer);
  };
  observer.observe(main, { childList: true, subtree: true });
  return end;
}
