// @ts-check
// The options whose price differs from that of another day, the largest difference first.

import { link } from "../../core/base.js";
import { count, money, plural, shortTime, sizeName } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { currentPath, setQuery } from "../../core/router.js";
import { Delta } from "../../parts/delta.js";
import { Icon } from "../../parts/icon.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { useSteadyRows, Waiting } from "../../parts/rows.js";
import { headsOf } from "../../parts/sort.js";
import { Ago } from "../../parts/time.js";
import { unitNamed } from "./units.js";

/** @import { EventOf } from "../../core/html.js" */
/** @import { Answer } from "../../core/resource.js" */
/** @import { PriceDifference, PriceDifferences } from "../../types/api" */

/** @type {[string, string][]} */
export const SORTS = [["percent", "largest in percent"], ["cents", "largest in dollars"], ["newest", "latest change"]];

/** The day to compare with. @param {{ query: URLSearchParams, since: string | undefined }} properties */
export function Since({ query, since }) {
  const day = (query.get("since") ?? since ?? "").slice(0, "2026-11-22".length);
  return html`<label class="row">Against <input type="date" value=${day}
    onChange=${(/** @type {EventOf<HTMLInputElement>} */ event) => setQuery({ since: event.target.value || null })} /></label>`;
}

/** @param {{ answer: Answer<PriceDifferences>, query: URLSearchParams, more: number }} properties of which there may be more than `more` */
export function Differences({ answer, query, more }) {
  const scope = answer.data ? `now against ${shortTime(answer.data.since)}, what is paid` : "now against another day";
  return html`<${Panel} title="Price changes" scope=${scope}>
    <${Loaded} of=${answer} what="The comparison of prices" rows=${8}>${(/** @type {PriceDifferences} */ data) =>
      data.changes.length === 0
        ? html`<${Nothing} of=${data} />`
        : html`<${Table} of=${data} query=${query} hasMore=${data.changes.length === more} />`}</${Loaded}>
  </${Panel}>`;
}

/** @param {{ of: PriceDifferences }} properties */
const Nothing = ({ of }) => of.as_of
  ? html`<${Empty} icon="search" title="No price differs">
      <p>No option that matches costs other than on ${shortTime(of.since)}, as far as the crawls until <${Ago} at=${of.as_of} after="ago" /> show.</p>
      <a class="btn" href=${link(currentPath())}>Show all</a></${Empty}>`
  : html`<${Empty} icon="pending" title="Nothing to compare yet">
      <p>Changes are looked at by each refresh of analytics: the first one is still to come.</p></${Empty}>`;

/** @param {{ of: PriceDifferences, query: URLSearchParams, hasMore: boolean }} properties */
function Table({ of, query, hasMore }) {
  const key = (/** @type {PriceDifference} */ { product_id: id, option }) => `${id} ${option.nth} ${option.label}`;
  const steady = useSteadyRows(of.changes, key, `${of.since} ${query}`);
  const head = headsOf(query, "percent");
  const heads = html`<tr><th scope="col" class="w-third">Product</th><th scope="col" class="w-quarter">Store</th>
    <th scope="col" class="num">Before, now</th>${head("%", ["percent"], "num")}${head("$", ["cents"], "num")}
    <th scope="col" class="num">By unit</th>${head("When", ["newest"], "num")}</tr>`;
  return html`${head.select}<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />
    <table class="table fold">
      <caption class="sr">Options whose price differs</caption>
      <thead>${heads}</thead>
      <tbody>${steady.rows.map((row) => html`<${Row} key=${key(row)} of=${row} />`)}</tbody>
    </table></div>
    <p class="panel-foot">${plural(of.changes.length, "option")}${of.truncated &&
      ", compared by the largest changes alone: a filter shows more"}${of.as_of && html`, as of <${Ago} at=${of.as_of} after="ago" />`}
      ${hasMore && html` <a class="link" href=${link(currentPath(), { ...Object.fromEntries(query), rows: "all" })}>Show more</a>`}</p>`;
}

const Row = memo((/** @type {{ of: PriceDifference }} */ { of }) => {
  const unit = unitNamed(of.unit);
  return html`<tr data-row>
    <th scope="row" class="key cut"><${Product} of=${of} /></th>
    <td class="line first cut"><a href=${link(`/admin/stores/${of.store_id}`)} title=${of.store_name}><bdi>${of.store_name}</bdi></a>
      ${(of.city || of.state) && html`<br class="not-phone" /> <span class="scope">${[of.city, of.state].filter(Boolean).join(", ")}</span>`}</td>
    <td class="num fact"><${From} price=${money(of.price_before)} /> ${money(of.price)}${!of.is_in_stock && html`<br /><span class="scope">out of stock</span>`}</td>
    <td class="num end"><${Delta} from=${of.price_before} to=${of.price} /></td>
    <td class="num fact">${of.cents > 0 ? "+" : "−"}${money(Math.abs(of.cents))}</td>
    <td class="num fact">${unit && typeof of.unit_price === "number" && html`${typeof of.unit_price_before === "number" && html`<${From} price=${unit.text(of.unit_price_before)} /> `}${unit.text(of.unit_price)}<br class="not-phone" />
      <span class="scope"> ${unit.word}</span>`}</td>
    <td class="num fact"><${Ago} at=${of.changed_at} after="ago" /></td>
  </tr>`;
});

/** @param {{ of: PriceDifference }} properties */
function Product({ of: { product_name: name, product_id: id, brand, option } }) {
  const size = `${sizeName(option.label)}${option.nth > 0 ? ` (${count(option.nth + 1)})` : ""}`;
  return html`<a href=${link(`/admin/products/${id}`)} title=${name}><bdi>${name}</bdi></a>
    <br /><span class="scope">${brand?.trim() && html`<bdi>${brand}</bdi>, `}<bdi>${size}</bdi></span>`;
}

/** The price before, and an arrow. @param {{ price: string }} properties */
const From = ({ price }) => html`${price} <span class="dim"><${Icon} name="right" /></span><span class="sr">to</span>`;
