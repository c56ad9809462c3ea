// @ts-check
// The options whose price differs from that of another day, the largest difference first.

import { link } from "../../core/base.js";
import { money, plural, shortTime } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { currentPath, setQuery } from "../../core/router.js";
import { Delta } from "../../parts/delta.js";
import { FromTo, ProductOption, signed } from "../../parts/option-change.js";
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
  const scope = answer.data ? `now against ${shortTime(answer.data.since)}, what is paid${isAlike(answer.data) ? `. ${ALIKE}` : ""}` : "now against another day";
  return html`<${Panel} title="Price changes" scope=${scope}>
    <${Loaded} of=${answer} what="The comparison of prices" rows=${8}>${(/** @type {PriceDifferences} */ data) =>
      data.changes.length === 0
        ? html`<${Nothing} of=${data} />`
        : html`<${Table} of=${data} query=${query} hasMore=${data.changes.length === more} />`}</${Loaded}>
  </${Panel}>`;
}

/** Whether no product has the words that are looked for. @param {PriceDifferences} of */
const isAlike = ({ match, changes }) => (match === "corrected" || match === "trigrams") && changes.length > 0;
const ALIKE = "No product has these words; these have a similar spelling";

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
    <th scope="row" class="key cut"><${ProductOption} id=${of.product_id} name=${of.product_name} brand=${of.brand} option=${of.option} /></th>
    <td class="line first cut"><a href=${link(`/admin/stores/${of.store_id}`)} title=${of.store_name}><bdi>${of.store_name}</bdi></a>
      ${(of.city || of.state) && html`<br class="not-phone" /> <span class="scope">${[of.city, of.state].filter(Boolean).join(", ")}</span>`}</td>
    <td class="num fact"><${FromTo} from=${money(of.price_before)} to=${money(of.price)} />${!of.is_in_stock && html`<br class="not-phone" /> <span class="scope">out of stock</span>`}</td>
    <td class="num end"><${Delta} from=${of.price_before} to=${of.price} /></td>
    <td class="num fact">${signed(of.cents)}</td>
    <td class="num fact">${unit && typeof of.unit_price === "number" && html`<${FromTo} to=${unit.text(of.unit_price)}
      from=${typeof of.unit_price_before === "number" ? unit.text(of.unit_price_before) : ""} /><br class="not-phone" />
      <span class="scope"> ${unit.word}</span>`}</td>
    <td class="num fact"><${Ago} at=${of.changed_at} after="ago" /></td>
  </tr>`;
});
