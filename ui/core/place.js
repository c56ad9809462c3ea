// @ts-check
// The way back to the place where a person left a page: the link that was opened has the focus and stands where it stood, or else
// the page is scrolled as far as it was. Pages are read again, so their rows come one after the other. Loaded with the first
// change of the page.

import { linksTo } from "./router.js";

/** @import { Place } from "./router.js" */

/** Maximum time in which the rows of a page come: they are read from a busy server, perhaps more than once. */
const WAIT_MS = 60_000;
/** Time for which a place that was reached is kept, while rows above it come. */
const KEPT_MS = 2_000;
/** A person who does one of these decides on the place. */
const MOVES = ["wheel", "touchstart", "pointerdown", "keydown"];

/** The link that was opened, once it is shown again. @param {ParentNode} main @param {Place} place @returns {HTMLElement | null} */
function linkOf(main, { href, nth }) {
  const all = href === null ? [] : linksTo(main, href);
  return all[nth] ?? all[0] ?? null;
}

/**
 * Scrolls to a place, again and again while the page grows, until a person moves.
 * @param {HTMLElement} main
 * @param {Place} place
 * @returns {() => void} ends it
 */
export function returnTo(main, place) {
  let isReached = false;
  const observer = new MutationObserver(() => step());
  let timer = setTimeout(() => end(), WAIT_MS);
  const end = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const move of MOVES) removeEventListener(move, end, true);
  };
  const step = () => {
    if (!scrollOnce(main, place) || isReached) return;
    isReached = true;
    clearTimeout(timer);
    timer = setTimeout(end, KEPT_MS);
  };
  for (const move of MOVES) addEventListener(move, end, { capture: true, passive: true });
  observer.observe(main, { childList: true, subtree: true, characterData: true });
  step();
  return end;
}

/** @param {HTMLElement} main @param {Place} place @returns {boolean} whether the page is there */
function scrollOnce(main, place) {
  const { top, href, offset } = place;
  const anchor = linkOf(main, place);
  const wanted = anchor ? scrollY + anchor.getBoundingClientRect().top - offset : top;
  scrollTo(0, wanted);
  return Math.abs(scrollY - wanted) < 1 && (anchor !== null || href === null);
}

/**
 * Moves the focus from `main` to the link that was opened, once it is shown, unless the focus was moved meanwhile.
 * @param {HTMLElement} main which has the focus
 * @param {Place} place
 * @returns {(() => void) | undefined} ends the wait
 */
export function focusLink(main, place) {
  const isDone = () => {
    const anchor = linkOf(main, place);
    if (document.activeElement === main) anchor?.focus({ preventScroll: true });
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
