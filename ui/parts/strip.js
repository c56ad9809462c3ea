// @ts-check
// A row of figures, each with its scope below and a link to its list.

import { html } from "../core/html.js";

/** @import { Children } from "../core/html.js" */

/** @param {{ label: string, children?: Children }} properties */
export const Strip = ({ label, children }) => {
  const figures = [children].flat(Infinity).filter(Boolean);
  return html`<section class="panel" aria-label=${label}><dl class="strip" style=${{ "--n": figures.length }}>${figures}</dl></section>`;
};

/**
 * @param {object} properties
 * @param {Children} properties.label
 * @param {Children} properties.value
 * @param {string} [properties.unit] smaller, behind the value
 * @param {Children} properties.scope
 * @param {string} [properties.href]
 * @param {string} [properties.kind] bad or hold
 * @param {Children} [properties.icon]
 */
export function Figure({ label, value, unit, scope, href, kind = "", icon }) {
  const text = html`${icon}${icon && " "}${value}${unit && html` <small>${unit}</small>`}`;
  const figure = href
    ? html`<a class=${`figure ${kind}`} href=${href}>${text}</a>`
    : html`<span class=${`figure ${kind}`}>${text}</span>`;
  return html`<div><dt>${label}</dt><dd>${figure}<span class="scope">${scope}</span></dd></div>`;
}
