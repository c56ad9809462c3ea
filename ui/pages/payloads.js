// @ts-check
// Payloads: the fetched menus; with `id`, the facts and the JSON of one.

import { pathOf } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { bytes, count, plural, share } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { suggestStores } from "../core/stores.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead } from "../parts/panel.js";
import { asText, filtersOf, PLATFORM, QueryBox, readId } from "../parts/query-box.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { AGES, ageText, headsOf } from "../parts/sort.js";
import { Ago } from "../parts/time.js";
import { One } from "./payloads/one.js";

/** @import { Filters, Qualifier } from "../parts/query-box.js" */
/** @import { PayloadPage, PayloadView } from "../types/api" */
/** @import { Data } from "../types/requests" */

const LIMIT = 50;
const CHOICES = 8;
const GAP_MS = 10_000;
const PARAMETERS = /** @type {const} */ (["dispensary_id", "platform", "from", "to", "sort", "cursor"]);

/** A day as its first moment. @param {string} text */
const readDay = (text) => (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? `${text}T00:00:00Z` : null);
/** @param {string} value */
const writeDay = (value) => value.slice(0, 10);
/** @param {string} value */
const isDay = (value) => readDay(writeDay(value)) !== null;

/** @type {Qualifier[]} */
const QUALIFIERS = [
  {
    word: "store",
    parameter: "dispensary_id",
    help: "a part of its name, or its id",
    read: readId,
    find: suggestStores,
  },
  PLATFORM,
  { word: "from", parameter: "from", help: "a day, such as 2026-11-22", read: readDay, write: writeDay, accepts: isDay },
  { word: "to", parameter: "to", help: "the day after the last", read: readDay, write: writeDay, accepts: isDay },
];

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const id = /^\d{1,18}$/.test(query.get("id") ?? "") ? Number(query.get("id")) : null;
  return id === null ? html`<${List} query=${query} />` : html`<${One} key=${id} id=${id} />`;
}

/** @param {{ query: URLSearchParams }} properties */
function List({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["q", "cursor"], AGES);
  const path = pathOf("/api/payloads", { ...pick(filters.query, PARAMETERS), limit: LIMIT });
  const answer = useResource(path, { topics: ["task"], gap: GAP_MS });
  usePage("Payloads", answer);
  const store = filters.query.get("dispensary_id");
  const names = answer.data?.payloads[0]?.dispensary_name;
  const scope = store
    ? html`of store <a href=${link(`/admin/stores/${store}`)}><bdi>${names ?? store}</bdi></a>, ${ageText(filters.query)}`
    : `the menus as they were fetched, ${ageText(filters.query)}`;
  return html`<${PageHead} title="Payloads" scope=${scope}>
    ${store && html`<a class="btn" href=${link("/admin/payloads/diff", { store })}>Diff of the last two</a>`}</${PageHead}>
    <div class="row"><${QueryBox} filters=${filters} text="q" label="Filter payloads"
      placeholder="Name of a store; store:12 from:2026-11-22" /></div>
    ${query.get("q") && html`<${Choices} words=${query.get("q")} />`}
    <section class="panel" aria-labelledby="h-payloads"><h2 class="sr" id="h-payloads">List of payloads</h2>
      <${Loaded} of=${answer} what="The list of payloads" rows=${8}>${(/** @type {Data<typeof answer>} */ data) =>
        data.payloads.length === 0
          ? html`<${None} filters=${filters} />`
          : html`<${Table} data=${data} query=${filters.query} path=${path} />`}</${Loaded}></section>`;
}

/** The API filters by id: the words find stores, from which the reader chooses one. @param {{ words: string }} properties */
function Choices({ words }) {
  const answer = useResource(pathOf("/api/stores", { q: words, limit: CHOICES }));
  return html`<section class="panel panel-body" aria-label="Stores of that name">
    <${Loaded} of=${answer} what="The list of stores" rows=${1}>${(/** @type {Data<typeof answer>} */ data) =>
      data.stores.length === 0
        ? html`<p role="status">No store is named <b>${words}</b>: the payloads of all stores are below. <a class="link"
            href=${link("/admin/payloads")}>Clear</a></p>`
        : html`<p class="row"><span>Payloads of which store?</span>
            ${data.stores.map((store) =>
              html`<a class="btn small" key=${store.id} href=${link("/admin/payloads", { dispensary_id: store.id })}>
                <bdi>${store.name}</bdi></a>`)}
            ${data.next_cursor && html`<a class="link" href=${link("/admin/stores", { q: words })}>more</a>`}</p>`}</${Loaded}></section>`;
}

/** @param {{ data: PayloadPage, query: URLSearchParams, path: string }} properties */
function Table({ data, query, path }) {
  const steady = useSteadyRows(data.payloads, (payload) => payload.id, path);
  const isOne = query.has("dispensary_id");
  const head = headsOf(query, AGES[0]);
  return html`${head.select}<table class="table fold" ...${steady.hold}>
      <caption class="sr">Payloads, ${ageText(query)}</caption>
      <thead><tr><th scope="col">Payload</th>${!isOne && html`<th scope="col" class="w-third">Store</th>`}
        <th scope="col" class="num">Products</th><th scope="col" class="num">Coverage</th>
        <th scope="col" class="num">Size</th><th scope="col" class="num">Task</th>
        ${head("Fetched", AGES, "num")}<th scope="col"><span class="sr">Changes</span></th></tr></thead>
      <tbody>${steady.rows.map((payload) => html`<${Row} key=${payload.id} of=${payload} hasStore=${!isOne} />`)}</tbody>
    </table>
    <${Waiting} waiting=${steady.waiting} onShow=${steady.show} />
    <${Pager} query=${query} next=${data.next_cursor}>
      ${plural(data.payloads.length, "payload")} ${query.has("cursor") || data.next_cursor ? "on this page" : "in all"}</${Pager}>`;
}

const Row = memo((/** @type {{ of: PayloadView, hasStore: boolean }} */ { of: payload, hasStore }) => {
  const store = payload.dispensary_name ?? `store ${payload.dispensary_id}`;
  return html`<tr data-row>
    <th scope="row" class="key"><a href=${link("/admin/payloads", { id: payload.id })}>${payload.id}</a></th>
    ${hasStore && html`<td class="line first cut">
      <a href=${link("/admin/payloads", { dispensary_id: payload.dispensary_id })} title=${store}><bdi>${store}</bdi></a></td>`}
    <td class="num fact" data-l="products">${count(payload.product_count)}</td>
    <td class="num fact" data-l="coverage">${payload.total_count === 0 ? "–" : share(payload.coverage, 1)}
      ${payload.coverage < 1 && html`<br /><span class="scope">of ${count(payload.total_count)}</span>`}</td>
    <td class="num fact" data-l="size">${bytes(payload.bytes)}</td>
    <td class="num fact" data-l="task">
      ${payload.task_id === null
        ? html`<span class="dim">–</span>`
        : html`<a href=${link(`/admin/tasks/${payload.task_id}`)}>${payload.task_id}</a>`}</td>
    <td class="num end"><${Ago} at=${payload.fetched_at} after="ago" /></td>
    <td class="num fact"><a class="link"
      href=${link("/admin/payloads/diff", { store: payload.dispensary_id, to: payload.id })}
      aria-label=${`Diff to payload ${payload.id} from the one before`}>Diff</a></td>
  </tr>`;
});

/** @param {{ filters: Filters }} properties */
function None({ filters }) {
  const filter = asText(filters);
  if (!filter && !filters.query.has("cursor")) return html`<${Empty} icon="pending" title="No payload is kept">
    <p>Each complete crawl of a store leaves one.</p></${Empty}>`;
  return html`<${Empty} icon="search" title="No payload matches">
    <p class="mono">${filter || "this page of the list"}</p><a class="btn" href=${link("/admin/payloads")}>All payloads</a></${Empty}>`;
}
