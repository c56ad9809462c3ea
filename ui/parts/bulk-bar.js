// @ts-check
// The bar of actions on the selected rows of a list, or on all that match its filter.

import { html } from "../core/html.js";
import { count } from "../core/format.js";

/** @import { Children } from "../core/html.js" */

/**
 * @param {object} properties
 * @param {number} properties.selected number of rows
 * @param {boolean} properties.isAll the actions are for all that match
 * @param {(isAll: boolean) => void} properties.onTake
 * @param {boolean} [properties.isAllOffered] whether all that match may be taken
 * @param {number} [properties.total] number of those that match, where it is known
 * @param {string} properties.filterText
 * @param {Children} [properties.children] the actions
 */
export function BulkBar({ selected, isAll, onTake, isAllOffered = true, total, filterText, children }) {
  const all = total === undefined ? "all that match" : `all ${count(total)} that match`;
  const shown = isAll
    ? html`<b>${all[0].toUpperCase() + all.slice(1)}</b> ${filterText && html`<span class="mono">${filterText}</span>`}`
    : html`<b>${count(selected)}</b> selected`;
  return html`<div class=${`bulk ${selected === 0 && !isAll ? "is-idle" : ""}`} role="group" aria-label="Bulk actions">
    <span role="status">${shown}</span>
    ${isAllOffered && html`<button class="btn small quiet" type="button" onClick=${() => onTake(!isAll)}>
      ${isAll ? "Only the selected" : `Select ${all}`}</button>`}
    <div class="row actions">${children}</div>
  </div>`;
}
