// @ts-check
// A store of a retailer, in a line.

import { link } from "../../core/base.js";
import { html } from "../../core/html.js";

/** @import { ComponentChildren } from "preact" */
/** @import { RetailerStore } from "../../types/api" */

/** @param {{ of: RetailerStore, children?: ComponentChildren }} properties */
export function StoreLine({ of, children }) {
  const place = [of.address, of.city, of.state].filter(Boolean).join(", ");
  return html`<div><a class="link" href=${link(`/admin/stores/${of.id}`)}><bdi>${of.name}</bdi></a>
    <span class="scope"> ${of.platform} · store ${of.id}${place && html` · <bdi>${place}</bdi>`}</span> ${children}</div>`;
}
