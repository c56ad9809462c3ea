// @ts-check
// A change of an option, in cells: of which product it is, the values before and after, and the difference.

import { link } from "../core/base.js";
import { money, sizeName } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "./icon.js";

/**
 * The product, and below it its brand and the option.
 * @param {{ id: number, name: string | null | undefined, brand: string | null | undefined, option: { label: string, nth: number } | null | undefined }} properties
 */
export function ProductOption({ id, name, brand, option }) {
  const size = option && `${sizeName(option.label)}${option.nth > 0 ? ` (${option.nth + 1})` : ""}`;
  const title = name
    ? html`<a href=${link(`/admin/products/${id}`)} title=${name}><bdi>${name}</bdi></a>`
    : html`<span class="dim">a product that was deleted</span>`;
  const under = [brand?.trim(), size].filter(Boolean);
  return html`${title}${under.length > 0 && html`<br /><span class="scope">${under.map((text, at) =>
    html`${at > 0 && ", "}<bdi>${text}</bdi>`)}</span>`}`;
}

/** A value, and an arrow to the one after it; the value alone where none is known before. @param {{ from: string, to: string }} properties */
export const FromTo = ({ from, to }) =>
  html`${from && html`${from} <span class="dim"><${Icon} name="right" /></span><span class="sr">to</span> `}${to}`;

/** `−$ 5.00`. @param {number} cents */
export const signed = (cents) => `${cents > 0 ? "+" : "−"}${money(Math.abs(cents))}`;
