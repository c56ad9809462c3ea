// @ts-check
// Rows of a list that keep their order while the pointer or the focus is among them, and the link to the next
// page.

import { html, useRef, useState } from "../core/html.js";
import { count } from "../core/format.js";
import { link } from "../core/base.js";
import { currentPath } from "../core/router.js";

/** @import { Children } from "../core/html.js" */
/**
 * Properties of the element that holds the rows.
 * @typedef {Record<string, (event: FocusOut) => void>} Hold
 */
/** @typedef {FocusEvent & { currentTarget: HTMLElement, relatedTarget: Node | null }} FocusOut */

/**
 * @template T
 * @param {T[]} rows
 * @param {(row: T) => string | number} key
 * @param {string} [scope] another scope (a filter, a page): its rows are shown at once
 * @returns {{ rows: T[], waiting: number, show: () => void, hold: Hold }}
 */
export function useSteadyRows(rows, key, scope = "") {
  const shown = useRef({ scope, keys: /** @type {(string | number)[]} */ ([]) });
  const held = useRef(false);
  const [, draw] = useState(0);
  const again = () => draw((times) => times + 1);
  const isNew = shown.current.scope !== scope;
  // a table without rows is not drawn, and hears of no pointer that leaves it
  if (isNew || rows.length === 0) held.current = false;
  const byKey = new Map(rows.map((row) => [key(row), row]));
  // where no row is shown, none can move under the pointer
  if (!held.current || !shown.current.keys.some((each) => byKey.has(each))) shown.current = { scope, keys: rows.map(key) };
  const known = new Set(shown.current.keys);
  const release = () => {
    held.current = false;
    again();
  };
  return {
    rows: /** @type {T[]} */ (shown.current.keys.map((each) => byKey.get(each)).filter((row) => row !== undefined)),
    waiting: rows.filter((row) => !known.has(key(row))).length,
    show: () => {
      shown.current = { scope, keys: rows.map(key) };
      again();
    },
    hold: {
      onPointerEnter: () => void (held.current = true),
      onPointerLeave: (event) => !event.currentTarget.contains(document.activeElement) && release(),
      onFocusIn: () => void (held.current = true),
      onFocusOut: (event) => {
        const isInside = event.currentTarget.contains(event.relatedTarget) || event.currentTarget.matches(":hover");
        if (!isInside) release();
      },
    },
  };
}

/** Rows that arrived while the order was kept. @param {{ waiting: number, onShow: () => void }} properties */
export const Waiting = ({ waiting, onShow }) =>
  waiting > 0 && html`<button class="btn small waiting" type="button" onClick=${onShow}>${count(waiting)} new: show</button>`;

/**
 * The foot of a list that has pages.
 * @param {object} properties
 * @param {Children} properties.children the shown range
 * @param {URLSearchParams} properties.query
 * @param {string | null | undefined} properties.next the cursor of the next page
 * @param {string} [properties.older] the word for it
 */
export function Pager({ children, query, next, older = "Older" }) {
  const others = Object.fromEntries([...query].filter(([name]) => name !== "cursor"));
  return html`<p class="panel-foot row pager"><span>${children}</span>
    <span class="row actions">
      ${query.has("cursor") && html`<a class="btn small" href=${link(currentPath(), others)}>First page</a>`}
      ${next && html`<a class="btn small" href=${link(currentPath(), { ...others, cursor: next })}>${older}</a>`}
    </span>
  </p>`;
}
