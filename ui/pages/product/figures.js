// @ts-check
// Current price and stock of each option; the lowest price of the period.

import { count, day, money, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Panel } from "../../parts/panel.js";
import { bundleText, isOnSale, medicalText, paid, quantityText, regular, stockText, unitPriceText } from "../../parts/products.js";
import { Figure, Strip } from "../../parts/strip.js";
import { optionName, shownPoints } from "./series.js";

/** @import { OptionView, ProductDetail } from "../../types/api" */
/** @import { Prices, Stock } from "../../parts/products.js" */
/** @import { Period, Series } from "./series.js" */

/** Maximum figures that fit beside each other. */
const MAX_FIGURES = 5;

/** @param {{ product: ProductDetail, series: Series[], span: Period, period: string }} properties */
export function Figures({ product, series, span, period }) {
  const { options } = product;
  const lowest = html`<${Lowest} series=${series} span=${span} period=${period} isAll=${series.length >= options.length} />`;
  if (options.length > MAX_FIGURES) return html`<${Options} options=${options} /><${Strip} label="Lowest">${lowest}</${Strip}>`;
  return html`<${Strip} label="Now">
    ${options.length === 0 && html`<${Figure} label="Now" ...${priceOf(product)}
      scope=${[stockScope(product), medicalText(product)].filter(Boolean).join(", ")} />`}
    ${options.map((option) =>
      html`<${Figure} key=${optionName(option)} label=${html`<bdi>${optionName(option)}</bdi>`} ...${priceOf(option)}
        scope=${scopeOf(option)} />`)}
    ${lowest}
  </${Strip}>`;
}

/** @param {Prices} of */
const priceOf = (of) => ({ value: money(paid(of)), unit: isOnSale(of) ? `special, from ${money(regular(of))}` : undefined });

/** @param {Stock} of */
function stockScope(of) {
  if (!of.is_in_stock) return stockText(of);
  if (of.quantity === null) return "in stock, number unknown";
  return of.quantity_censored ? `${count(of.quantity)} or more` : `${quantityText(of)} in stock`;
}

/** @param {OptionView} option */
const scopeOf = (option) => [stockScope(option), unitPriceText(option), bundleText(option), medicalText(option)].filter(Boolean).join(", ");

/** @param {{ series: Series[], span: Period, period: string, isAll: boolean }} properties */
function Lowest({ series, span, period, isAll }) {
  const label = `Lowest ${period.startsWith("since") ? "" : "of "}${period}`;
  const points = series.flatMap((each) =>
    shownPoints(each, span).filter(({ gone }) => !gone).map((point) => ({ point, name: each.name, cents: paid(point) })));
  const priced = points.filter(({ cents }) => cents !== null);
  if (priced.length === 0) return html`<${Figure} label=${label} value="–" scope="no price reported" />`;
  const least = priced.reduce((best, each) => (Number(each.cents) < Number(best.cents) ? each : best));
  const scope = html`<bdi>${least.name}</bdi>, ${isOnSale(least.point) ? "on special " : ""}
    ${day(Math.max(least.point.time, span.from))}${!isAll && `, of the ${plural(series.length, "option")} shown`}`;
  return html`<${Figure} label=${label} value=${money(least.cents)} scope=${scope} />`;
}

/** @param {{ options: OptionView[] }} properties */
function Options({ options }) {
  return html`<${Panel} title="Options" scope=${`${count(options.length)}, now, in the order of the menu`}><table class="table fold">
    <thead><tr><th scope="col" class="w-third">Option</th><th scope="col" class="num">Price</th>
      <th scope="col" class="num">A unit</th><th scope="col" class="num">Stock</th></tr></thead>
    <tbody>${options.map((option) => html`<tr key=${optionName(option)} data-row>
      <th scope="row" class="key"><bdi>${optionName(option)}</bdi></th>
      <td class="num end">${money(paid(option))}
        ${isOnSale(option) && html` <span class="scope">special, from ${money(regular(option))}</span>`}
        ${medicalText(option) && html` <span class="scope">${medicalText(option)}</span>`}</td>
      <td class="num fact">${unitPriceText(option)}
        ${bundleText(option) && html` <span class="scope">${bundleText(option)}</span>`}</td>
      <td class="num fact">${stockScope(option)}</td>
    </tr>`)}</tbody>
  </table></${Panel}>`;
}
