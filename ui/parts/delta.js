// @ts-check
// A price's change: an arrow, a sign and the percentage. It is neither good nor bad, so it has no colour.

import { decimal } from "../core/format.js";
import { html } from "../core/html.js";
import { Icon } from "./icon.js";

/** @param {{ from: number | null, to: number | null }} properties */
export function Delta({ from, to }) {
  if (from === null || to === null) return from === to ? "" : html`<span class="delta">${to === null ? "price gone" : "new price"}</span>`;
  if (from === to) return html`<span class="delta">same</span>`;
  const percent = from > 0 ? (100 * (to - from)) / from : null;
  const isUp = to > from;
  return html`<span class="delta"><${Icon} name=${isUp ? "up" : "down"} />
    ${percent === null ? (isUp ? "up" : "down") : `${isUp ? "+" : ""}${decimal(percent)} %`}</span>`;
}
