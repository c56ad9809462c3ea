// @ts-check
// The current page and its parameters: the address holds all of it, so that it can be shared.

import { address, basePath } from "./base.js";
import { useEffect, useState } from "./html.js";

/** @type {Set<() => void>} */
const watchers = new Set();

/** The path below this server's, without a slash at its end. */
export const currentPath = () => location.pathname.slice(basePath.length).replace(/\/+$/, "") || "/";

/**
 * @param {string} to an address of this server
 * @param {{ replace?: boolean, opened?: string | null }} [options] `opened`: the link there, for the way back
 */
export function navigate(to, { replace = false, opened = null } = {}) {
  if (replace) history.replaceState(history.state, "", to);
  else {
    history.replaceState({ opened }, "");
    history.pushState(null, "", to);
  }
  moved();
}

/** The link by which this page was left before, where it is shown again. @returns {string | null} */
export const openedLink = () => history.state?.opened ?? null;

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
  addEventListener("popstate", moved);
  document.addEventListener("click", (event) => {
    const anchor = /** @type {HTMLElement} */ (event.target).closest?.("a");
    if (!anchor || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || anchor.target || anchor.hasAttribute("download")) return;
    const to = new URL(anchor.href, location.href);
    const isPage = to.origin === location.origin && to.pathname.startsWith(address("/admin"));
    if (!isPage || (to.hash && to.pathname === location.pathname && to.search === location.search)) return;
    event.preventDefault();
    navigate(to.pathname + to.search + to.hash, { opened: anchor.closest("main") && anchor.getAttribute("href") });
  });
}
