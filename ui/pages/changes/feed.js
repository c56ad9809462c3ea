// @ts-check
// The rows of the feed: of which product each change is, and the values before and after it.

import { link } from "../../core/base.js";
import { html, memo } from "../../core/html.js";
import { Delta } from "../../parts/delta.js";
import { Icon } from "../../parts/icon.js";
import { FromTo, ProductOption, signed } from "../../parts/option-change.js";
import { Ago } from "../../parts/time.js";
import { KINDS, kindText, pricesOf, valuesOf } from "./words.js";

/** @import { ChangeView } from "../../types/api" */

/** @param {{ changes: ChangeView[] }} properties */
export const Feed = ({ changes }) => html`<table class="table fold">
  <caption class="sr">Changes, the newest first</caption>
  <thead><tr><th scope="col" class="w-third">Product</th><th scope="col">Change</th><th scope="col" class="num">Before, after</th>
    <th scope="col" class="num">%</th><th scope="col" class="num">$</th><th scope="col" class="w-quarter">Store</th>
    <th scope="col" class="num">When</th></tr></thead>
  <tbody>${changes.map((change) => html`<${Row} key=${change.cursor} of=${change} />`)}</tbody>
</table>`;

const Row = memo((/** @type {{ of: ChangeView }} */ { of: change }) => {
  const prices = pricesOf(change);
  const difference = prices && prices.from !== null && prices.to !== null ? prices.to - prices.from : null;
  return html`<tr data-row>
    <th scope="row" class="key cut"><${ProductOption} id=${change.product_id} name=${change.product} brand=${change.brand} option=${change.option} /></th>
    <td class="fact"><${Kind} of=${change.kind} />${prices?.word && html` <span class="dim">${prices.word}</span>`}</td>
    <td class="num fact"><${Values} of=${change} /></td>
    <td class="num end">${prices && html`<${Delta} from=${prices.from} to=${prices.to} />`}</td>
    <td class="num fact">${difference !== null && difference !== 0 && signed(difference)}</td>
    <td class="line cut"><a href=${link(`/admin/stores/${change.store_id}`)} title=${change.store}><bdi>${change.store}</bdi></a></td>
    <td class="num fact"><${Ago} at=${change.crawled_at} after="ago" /></td>
  </tr>`;
});

/** @param {{ of: string }} properties */
export const Kind = ({ of: kind }) =>
  html`<span class="dim"><${Icon} name=${KINDS[/** @type {keyof typeof KINDS} */ (kind)]?.[1] ?? "dot"} /></span> ${kindText(kind)}`;

/** @param {{ of: ChangeView }} properties */
function Values({ of }) {
  const [before, after] = valuesOf(of);
  return before && html`<${FromTo} from=${before} to=${after} />`;
}
