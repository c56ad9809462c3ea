// @ts-check
// Saved views: the filters of a list that this browser remembers. In: the current filters. Out: links to
// remembered ones. The server does not know them.

import { link } from "../core/base.js";
import { html, useState } from "../core/html.js";
import { currentPath } from "../core/router.js";
import { Icon } from "./icon.js";

/** @typedef {{ text: string, search: string }} View its filters in typed form, and as parameters of an address */

const KEY = "drover.views";
/** Maximum number of views of a page; the oldest one makes room. */
const MAX_VIEWS = 12;

/** @param {{ text: string }} properties the current filters; empty without any */
export function SavedViews({ text }) {
  const [, draw] = useState(0);
  const path = currentPath();
  const views = saved(path);
  const keep = (/** @type {View[]} */ kept) => {
    save(path, kept);
    draw((times) => times + 1);
  };
  const isNew = text !== "" && !views.some((view) => view.text === text);
  if (!isNew && views.length === 0) return null;
  return html`<div class="filter-note dim" role="group" aria-label="Saved views">
    ${views.map((view) => html`<span class="chip" key=${view.text}>
      <a class="link" href=${`${link(path)}${view.search}`} aria-current=${view.text === text ? "true" : undefined}><bdi>${view.text}</bdi></a>
      <button type="button" aria-label=${`Forget the view ${view.text}`}
        onClick=${() => keep(views.filter((each) => each !== view))}><${Icon} name="close" /></button></span>`)}
    ${isNew && html`<button class="btn small quiet" type="button"
      onClick=${() => keep([...views, { text, search: currentSearch() }].slice(-MAX_VIEWS))}>Save this view</button>`}
  </div>`;
}

/** Without the place in the list. */
function currentSearch() {
  const query = new URLSearchParams(location.search);
  query.delete("cursor");
  return `?${query}`;
}

/** @param {string} path @returns {View[]} */
const saved = (path) => all()[path] ?? [];

/** @param {string} path @param {View[]} views */
function save(path, views) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...all(), [path]: views }));
  } catch {
    // storage may be closed or full: the views stay as they were
  }
}

/** @returns {Record<string, View[]>} */
function all() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}
