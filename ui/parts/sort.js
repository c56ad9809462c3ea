// @ts-check
// The head of a column by which a list is sorted. The order is a parameter of the page's address.

import { html } from "../core/html.js";
import { link } from "../core/base.js";
import { currentPath } from "../core/router.js";

/**
 * @param {object} properties
 * @param {URLSearchParams} properties.query
 * @param {string} properties.word
 * @param {[string, string] | [string]} properties.orders the first click's, and the reverse; the API's words
 * @param {string} properties.initial the order without the parameter
 * @param {string} [properties.kind] classes
 */
export function SortHead({ query, word, orders: [up, down], initial, kind = "" }) {
  const current = query.get("sort") || initial;
  const next = current === up && down ? down : up;
  const others = Object.fromEntries([...query].filter(([name]) => name !== "cursor" && name !== "sort"));
  const state = current === up ? (down ? "ascending" : "other") : current === down ? "descending" : undefined;
  const arrow = current === up ? " ↑" : current === down ? " ↓" : "";
  return html`<th scope="col" class=${kind} aria-sort=${state}>
    <a href=${link(currentPath(), { ...others, sort: next === initial ? null : next })} title=${`Sort by ${next.replaceAll("_", " ")}`}>
      ${word}<span aria-hidden="true">${arrow}</span></a></th>`;
}
