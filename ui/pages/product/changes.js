// @ts-check
// Changes of price, special and stock of the options that are shown, newest first.

import { link } from "../../core/base.js";
import { count, exactTime, money, shortTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { currentPath } from "../../core/router.js";
import { Delta } from "../../parts/delta.js";
import { Icon } from "../../parts/icon.js";
import { Panel } from "../../parts/panel.js";
import { paid, stockText } from "../../parts/products.js";
import { changesOf } from "./series.js";

/** @import { Change, Period, Point, Series } from "./series.js" */

const SHOWN = 8;
const MAX_SHOWN = 300;

/** @param {{ series: Series[], span: Period, query: URLSearchParams, period: string }} properties */
export function Changes({ series, span, query, period }) {
  const kind = query.get("kind") === "prices" ? "prices" : "";
  const all = changesOf(series, span).filter(({ isStock }) => !kind || !isStock);
  const isLong = query.get("changes") === "all";
  const shown = all.slice(0, isLong ? MAX_SHOWN : SHOWN);
  const to = (/** @type {Record<string, string | null>} */ changes) => link(currentPath(), { ...Object.fromEntries(query), ...changes });
  const more = html`<span class="more">${html`<a href=${to({ kind: kind ? null : "prices" })}>${kind ? "With stock" : "Prices only"}</a>`}
    ${all.length > SHOWN && html` · <a class="link" href=${to({ changes: isLong ? null : "all" })}>
      ${isLong ? "Fewer" : `All ${count(all.length)}`}</a>`}</span>`;
  return html`<${Panel} title="Changes" scope=${`last ${count(shown.length)} of ${count(all.length)}, ${period}`} more=${more}>
    ${shown.length === 0
      ? html`<p class="panel-body dim">${kind ? "No price" : "Nothing"} changed in this time.</p>`
      : html`<table class="table fold">
          <thead><tr><th scope="col">Option</th><th scope="col" class="num">From, to</th>
            <th scope="col" class="num">Change</th></tr></thead>
          <tbody>${shown.map((change) => html`<${Row} key=${change.key} of=${change} />`)}</tbody>
        </table>
        ${isLong && all.length > MAX_SHOWN && html`<p class="panel-foot">The newest ${count(MAX_SHOWN)}; all are in the CSV.</p>`}`}
  </${Panel}>`;
}

/** @param {{ of: Change }} properties */
function Row({ of: { time, option, what, from, to, isStock } }) {
  const [before, after] = isStock ? [presence(from), presence(to)] : [money(paid(from)), money(paid(to))];
  return html`<tr data-row>
    <th scope="row" class="key"><bdi>${option}</bdi> <span class="dim">${what}</span><br />
      <time class="scope" datetime=${to.crawled_at} title=${exactTime(time)}>${shortTime(time)}</time></th>
    <td class="num fact">${before} <span class="dim"><${Icon} name="right" /></span><span class="sr">to</span> ${after}</td>
    <td class="num end">${isStock
      ? html`<${StockDelta} from=${from} to=${to} />`
      : html`<${Delta} from=${paid(from)} to=${paid(to)} />`}</td>
  </tr>`;
}

/** @param {Point} point */
const presence = (point) => (point.gone ? "not on the menu" : stockText(point));

/** @param {{ from: Point, to: Point }} properties */
function StockDelta({ from, to }) {
  if (to.gone !== from.gone) return to.gone ? "gone" : "back";
  if (to.is_in_stock !== from.is_in_stock) {
    return html`<span class="delta"><${Icon} name=${to.is_in_stock ? "up" : "down"} />${to.is_in_stock ? "back" : "sold out"}</span>`;
  }
  if (from.quantity === null || to.quantity === null || from.quantity_censored || to.quantity_censored) return "";
  const difference = to.quantity - from.quantity;
  return html`<span class="delta"><${Icon} name=${difference > 0 ? "up" : "down"} />${difference > 0 ? "+" : ""}
    ${count(difference)}</span>`;
}
