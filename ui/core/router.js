// @ts-check
// The current page and its parameters: the address holds all of it, so that it can be shared.

import { address, basePath } from "./base.js";
import { useEffect, useState } from "./html.js";

/** @type {Set<() => void>} */
const watchers = new Set();

/**
 * @typedef {object} Place
 * @property {number} top how far the page was scrolled
 * @property {string | null} href of the link that was opened
 * @property {number} nth of the links to there
 * @property {number} offset of this link from the top of the window
 */

/** The path below this server's, without a slash at its end. */
export const currentPath = () => location.pathname.slice(basePath.length).replace(/\/+$/, "") || "/";

/**
 * @param {string} to an address of this server
 * @param {{ replace?: boolean, opened?: Element | null }} [options] `opened`: the link there, for the way back
 */
export function navigate(to, { replace = false, opened = null } = {}) {
  if (replace) history.replaceState(history.state, "", to);
  else {
    places.delete(visit);
    history.replaceState({ visit, place: placeNow(opened) }, "");
    visit = newVisit();
    history.pushState({ visit }, "", to);
    left = null;
  }
  moved();
}

/** Names an entry of the history. */
const newVisit = () => `${Date.now()} ${Math.random()}`;

let visit = newVisit();
/** Maximum number of entries whose places are kept beside the history: they were left by Back or Forward. */
const MAX_PLACES = 100;
/** @type {Map<string, Place>} */
const places = new Map();
/** @type {Place | null} */
let left = null;

/** Where this page was left before, if it is shown again by Back or Forward. */
export const placeBefore = () => left;

/** Back or Forward: the page that is left is still shown, and its entry is no longer the present one. */
function traversed() {
  places.delete(visit);
  places.set(visit, placeNow(null));
  for (const old of [...places.keys()].slice(0, -MAX_PLACES)) places.delete(old);
  visit = history.state?.visit ?? newVisit();
  const [opened, later] = [history.state?.place, places.get(visit)];
  // where it was scrolled since, the link that was opened before is not its place any more
  left = (later && later.top !== opened?.top ? later : opened) ?? null;
  moved();
}

/** @param {Element | null} link that is opened; null: none @returns {Place} */
function placeNow(link) {
  const href = link?.getAttribute("href") ?? null;
  const nth = href === null ? 0 : linksTo(document, href).findIndex((each) => each === link);
  return { top: scrollY, href, nth, offset: link?.getBoundingClientRect().top ?? 0 };
}

/** @param {ParentNode} inside @param {string} href @returns {HTMLElement[]} */
export const linksTo = (inside, href) =>
  /** @type {HTMLElement[]} */ ([...inside.querySelectorAll(`a[href="${CSS.escape(href)}"]`)]).filter((each) => each.closest("main"));

let shownPath = location.pathname;

function moved() {
  if (location.pathname !== shownPath) delete document.documentElement.dataset.ready;
  shownPath = location.pathname;
  for (const watcher of watchers) watcher();
}

/**
 * Sets parameters of this page; those that are empty are removed.
 * @param {Record<string, string | null | undefined>} changes
 * @param {{ replace?: boolean }} [options]
 */
export function setQuery(changes, options) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  navigate(`${location.pathname}${text ? `?${text}` : ""}`, options);
}

/** The page and its parameters, now and whenever they change. */
export function useLocation() {
  const [, draw] = useState(0);
  useEffect(() => {
    const watcher = () => draw((times) => times + 1);
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
  return { path: currentPath(), query: new URLSearchParams(location.search) };
}

/** Follows links to pages of this server without loading it again. */
export function followLinks() {
  history.replaceState({ ...history.state, visit }, "");
  // a page that is loaded again is for the browser to scroll, but not one that is not drawn yet
  history.scrollRestoration = "manual";
  addEventListener("pagehide", () => (history.scrollRestoration = "auto"));
  addEventListener("popstate", traversed);
  document.addEventListener("click", (event) => {
    const anchor = /** @type {HTMLElement} */ (event.target).closest?.("a");
    if (!anchor || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || anchor.target || anchor.hasAttribute("download")) return;
    const to = new URL(anchor.href, location.href);
    const isPage = to.origin === location.origin && to.pathname.startsWith(address("/admin"));
    if (!isPage || (to.hash && to.pathname === location.pathname && to.search === location.search)) return;
    event.preventDefault();
    navigate(to.pathname + to.search + to.hash, { opened: anchor.closest("main") && anchor });
  });
}
