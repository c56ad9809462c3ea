// @ts-check
// Stores: whether each is crawled, the time of its last complete crawl, and its products.

import { pathOf } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { count, plural, share } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { CrawlState, CrawlSwitch } from "../parts/crawl-switch.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead } from "../parts/panel.js";
import { readYes, writeYes } from "../parts/products.js";
import { asText, PLATFORM, QueryBox } from "../parts/query-box.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { Ago } from "../parts/time.js";

/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { StorePage, StoreView } from "../types/api" */
/** @import { Data } from "../types/requests" */

const LIMIT = 50;
/** Every crawl changes a store; a list of them need not follow each. */
const GAP_MS = 10_000;
const PARAMETERS = /** @type {const} */ (["state", "platform", "group", "crawl_enabled", "crawl_status", "q", "cursor"]);

/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "words", parameter: "q", help: "of the name or city, or an id" },
  { word: "state", parameter: "state", help: "two letters, as MI", read: (text) => (/^[a-z]{2}$/i.test(text) ? text.toUpperCase() : null) },
  PLATFORM,
  { word: "group", parameter: "group", help: "a name" },
  {
    word: "crawls",
    parameter: "crawl_status",
    values: ["fresh", "late", "never_crawled", "needs_menu_id", "empty_menu", "held"],
    help: "the state of the crawls",
  },
  { word: "enabled", parameter: "crawl_enabled", values: ["yes", "no"], help: "yes or no", read: readYes, write: writeYes },
];

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const path = pathOf("/api/stores", { ...pick(query, PARAMETERS), limit: LIMIT });
  const answer = useResource(path, { topics: ["task"], gap: GAP_MS });
  usePage("Stores", answer);
  return html`<${PageHead} title="Stores" scope="crawl state, last complete crawl, and what each has now; times in UTC on hover" />
    <div class="row"><${QueryBox} qualifiers=${QUALIFIERS} query=${query} text="q" label="Filter stores"
      placeholder="Name, city or id; state:MI crawls:late" /></div>
    <section class="panel" aria-labelledby="h-stores"><h2 class="sr" id="h-stores">List of stores</h2>
      <${Loaded} of=${answer} what="The list of stores" rows=${8}>${(/** @type {Data<typeof answer>} */ data) =>
        data.stores.length === 0
          ? html`<${None} query=${query} />`
          : html`<${Table} data=${data} query=${query} path=${path} />`}</${Loaded}></section>`;
}

/** @param {{ data: StorePage, query: URLSearchParams, path: string }} properties */
function Table({ data, query, path }) {
  const steady = useSteadyRows(data.stores, (store) => store.id, path);
  const where = query.has("cursor") ? "on this page" : data.next_cursor ? "first shown, by id" : "in all";
  return html`<table class="table fold" ...${steady.hold}>
      <caption class="sr">Stores and how they are crawled</caption>
      <thead><tr><th scope="col" class="w-third">Store</th><th scope="col">State</th><th scope="col">Crawls</th>
        <th scope="col" class="num">Last complete</th><th scope="col" class="num">Coverage</th>
        <th scope="col" class="num">Products</th><th scope="col" class="num">In stock</th><th scope="col">Groups</th>
        ${may("operator") && html`<th scope="col"><span class="sr">Action</span></th>`}</tr></thead>
      <tbody>${steady.rows.map((store) => html`<${Row} key=${store.id} of=${store} />`)}</tbody>
    </table>
    <${Waiting} waiting=${steady.waiting} onShow=${steady.show} />
    <${Pager} query=${query} next=${data.next_cursor} older="Next">${plural(data.stores.length, "store")} ${where}</${Pager}>`;
}

const Row = memo((/** @type {{ of: StoreView }} */ { of: store }) => {
  const page = `/admin/stores/${store.id}`;
  return html`<tr data-row>
    <th scope="row" class="key cut"><a href=${link(page)} title=${store.name}><bdi>${store.name}</bdi></a><br />
      <span class="scope">${count(store.id)}${store.city && html` · <bdi>${store.city}</bdi>`}
        ${store.platform !== "dutchie" && ` · ${store.platform}`}</span></th>
    <td class="fact">${store.state}</td>
    <td class="end"><${CrawlState} of=${store} />
      ${!store.crawl_enabled && store.disabled_reason && html`<br /><span class="scope">${store.disabled_reason}</span>`}</td>
    <td class="num fact" data-l="complete"><${Ago} at=${store.last_complete_at} after="ago" /></td>
    <td class="num fact" data-l="coverage">${coverageText(store.last_coverage)}</td>
    <td class="num fact" data-l="products"><a href=${`${link(page)}#products`}>${count(store.products)}</a></td>
    <td class="num fact" data-l="in stock"><a href=${`${link(page, { in_stock: true })}#products`}>${count(store.in_stock)}</a></td>
    <td class="line">${store.groups.map((group) => html`<a class="tag" href=${link("/admin/stores", { group })}>${group}</a> `)}</td>
    ${may("operator") && html`<td class="num fact"><${CrawlSwitch} of=${store} kind="small" /></td>`}
  </tr>`;
});

/** @param {number | null | undefined} coverage of the last crawl, 0 to 1 */
const coverageText = (coverage) => (typeof coverage === "number" ? share(coverage, 1) : html`<span class="dim">–</span>`);

/** @param {{ query: URLSearchParams }} properties */
function None({ query }) {
  const filter = asText(QUALIFIERS, query);
  if (!filter && !query.has("cursor")) {
    return html`<${Empty} icon="search" title="There is no store yet">
      <p>A task of the role store_discovery finds stores, and <span
        class="mono">drover stores import</span> takes a list of them.</p></${Empty}>`;
  }
  return html`<${Empty} icon="search" title="No store matches"><p class="mono">${filter || "this page of the list"}</p>
    <a class="btn" href=${link("/admin/stores")}>All stores</a></${Empty}>`;
}
