// @ts-check
// The values of the price chart as a table, newest first: a row for each crawl at which a price, a special or the stock
// changed.

import { count, exactTime, shortTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { isOnSale, stockText } from "../../parts/products.js";
import { shownPoints } from "./series.js";

/** @import { Measure } from "./measure.js" */
/** @import { Point, Series, Span } from "./series.js" */

const MAX_ROWS = 300;

/** @param {{ series: Series[], span: Span, measure: Measure }} properties */
export function Values({ series, span, measure }) {
  const rows = series.flatMap((each) => shownPoints(each, span)
    .filter((point, at, all) => at === 0 || !isSame(point, all[at - 1], measure))
    .map((point) => ({ name: each.name, key: `${each.key} ${point.time}`, point })));
  rows.sort((one, other) => other.point.time - one.point.time);
  const shown = rows.slice(0, MAX_ROWS);
  return html`<details class="values"><summary>Values as a table <span class="scope">${count(rows.length)}, ${measure.unit}</span></summary>
    <table class="table fold">
      <caption class="sr">Prices in ${measure.unit}, newest first; each holds until the next one of its option</caption>
      <thead><tr><th scope="col">From</th><th scope="col">Option</th><th scope="col" class="num">Price</th><th scope="col">Special</th>
        <th scope="col" class="num">Stock</th></tr></thead>
      <tbody>${shown.map(({ key, name, point }) => html`<tr key=${key}>
        <th scope="row" class="key"><time datetime=${point.crawled_at} title=${exactTime(point.time)}>${shortTime(point.time)}</time></th>
        <td class="fact"><bdi>${name}</bdi></td>
        <td class="num end">${point.gone ? "not on the menu" : measure.text(measure.of(point))}</td>
        <td class="fact">${!point.gone && isOnSale(point) && "special"}</td>
        <td class="num fact" data-l="stock">${!point.gone && stockText(point)}</td>
      </tr>`)}</tbody>
    </table>
    ${rows.length > MAX_ROWS && html`<p class="scope">The newest ${count(MAX_ROWS)}; all are in the CSV.</p>`}</details>`;
}

/** @param {Point} one @param {Point} other @param {Measure} measure */
const isSame = (one, other, measure) =>
  one.gone === other.gone && measure.of(one) === measure.of(other) && isOnSale(one) === isOnSale(other) && stockText(one) === stockText(other);
