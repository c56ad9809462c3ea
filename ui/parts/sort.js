// @ts-check
// Heads of columns by which a table is sorted, and the order of a table that holds all its rows. The order is a
// parameter of the page's address; `_desc` at its end means backwards. Where rows are folded, a select replaces the
// heads. A list without an end, such as that of tasks, has one order and its reverse: by age, which an index serves.

import { html } from "../core/html.js";
import { setQuery } from "../core/router.js";

/** @import { EventOf } from "../core/html.js" */
/** @import { AgeSort } from "../types/api" */

/** Words by their letters, and numbers in them by their size. */
const { compare } = new Intl.Collator(undefined, { numeric: true });
const BACKWARDS = /_desc$|^(newest|percent|cents)$/;
/** Orders of a list by the age of its rows, the usual one first. @type {[AgeSort, AgeSort]} */
export const AGES = ["newest", "oldest"];

/**
 * @param {object} properties
 * @param {URLSearchParams} properties.query
 * @param {string} properties.word
 * @param {[string, string] | [string]} properties.orders the first click's, and the reverse
 * @param {string} properties.initial the order without the parameter
 * @param {string} [properties.kind] classes
 */
export function SortHead({ query, word, orders: [first, reverse], initial, kind = "" }) {
  const current = query.get("sort") || initial;
  const isOn = current === first || current === reverse;
  const next = current === first && reverse ? reverse : first;
  const isBackwards = BACKWARDS.test(current);
  const state = !isOn ? undefined : !reverse ? "other" : isBackwards ? "descending" : "ascending";
  return html`<th scope="col" class=${kind} aria-sort=${state}>
    <button class="sort" type="button" title=${`Sort by ${next.replaceAll("_", " ") || initial || word}`}
      onClick=${() => setQuery({ sort: next === initial ? null : next, cursor: null })}>
      ${word}<span aria-hidden="true">${isOn && (isBackwards ? " ↓" : " ↑")}</span></button></th>`;
}

/**
 * Heads of one table. A head has its word, its orders and its classes. `select` offers the same orders above the table
 * where its rows are folded and its heads are not shown.
 * @param {URLSearchParams} query
 * @param {string} initial
 */
export function headsOf(query, initial) {
  /** @type {Order[]} */
  const all = [];
  const head = (/** @type {string} */ word, /** @type {[string, string] | [string]} */ orders, kind = "") => {
    const arrow = (/** @type {string} */ order) => (orders.length === 1 ? "" : BACKWARDS.test(order) ? " ↓" : " ↑");
    all.push(...orders.map((order) => ({ order, text: word + arrow(order) })));
    return html`<${SortHead} query=${query} word=${word} orders=${orders} initial=${initial} kind=${kind} />`;
  };
  // it is drawn after all heads are made
  return Object.assign(head, { select: html`<${SortSelect} query=${query} initial=${initial} orders=${all} />` });
}

/** @typedef {{ order: string, text: string }} Order */

/** @param {{ query: URLSearchParams, initial: string, orders: Order[] }} properties */
function SortSelect({ query, initial, orders }) {
  const current = query.get("sort") || initial;
  const choose = (/** @type {EventOf<HTMLSelectElement>} */ { target: { value } }) =>
    setQuery({ sort: value === initial ? null : value, cursor: null });
  return html`<p class="sort-select"><span aria-hidden="true">Sort by</span> <select aria-label="Sort by" onChange=${choose}>
    ${orders.map(({ order, text }) => html`<option key=${order} value=${order} selected=${order === current}>${text}</option>`)}</select></p>`;
}

/**
 * The values by which the rows of a table may be compared, by the names of orders; rows without one come last.
 * @template T
 * @typedef {Record<string, (row: T) => string | number | boolean | null | undefined>} Keys
 */

/**
 * The orders of these names, and backwards.
 * @param {Keys<never>} keys
 * @param {string} initial
 */
export const ordersOf = (keys, initial) => [initial, ...Object.keys(keys).flatMap((name) => [name, `${name}_desc`])];

/**
 * The rows in the order that the address asks for; as they are where it names none that is known.
 * @template T
 * @param {T[]} rows
 * @param {URLSearchParams} query
 * @param {Keys<T>} keys
 */
export function sorted(rows, query, keys) {
  const order = query.get("sort") ?? "";
  const key = Object.hasOwn(keys, order.replace(BACKWARDS, "")) ? keys[order.replace(BACKWARDS, "")] : undefined;
  if (!key) return rows;
  const sign = BACKWARDS.test(order) ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [key(one) ?? null, key(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * (typeof a === "string" ? compare(a, String(b)) : Number(a) - Number(b));
  });
}

/** An order by age in words. @param {URLSearchParams} query */
export const ageText = (query) => (query.get("sort") === "oldest" ? "oldest first" : "newest first");

/** The order in words. @param {URLSearchParams} query @param {Keys<never>} keys @param {string} initial the words of the usual order */
export function orderText(query, keys, initial) {
  const order = query.get("sort") ?? "";
  const name = order.replace(BACKWARDS, "");
  if (!Object.hasOwn(keys, name)) return initial;
  return `by ${name.replaceAll("_", " ")}${BACKWARDS.test(order) ? ", backwards" : ""}`;
}
