// @ts-check
// Stores: whether each is crawled, the time of its last complete crawl, and its products; trouble first. New ones, and
// actions on several.

import { pathOf } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { count, plural } from "../core/format.js";
import { html, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { Icon } from "../parts/icon.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead } from "../parts/panel.js";
import { readYes, writeYes } from "../parts/products.js";
import { asText, filtersOf, PLATFORM, QueryBox, readState } from "../parts/query-box.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { SelectAll, useSelection } from "../parts/selection.js";
import { headsOf } from "../parts/sort.js";
import { Bulk } from "./stores/bulk.js";
import { AddStore, ImportStores } from "./stores/import.js";
import { Row } from "./stores/row.js";

/** @import { Children } from "../core/html.js" */
/** @import { Selection } from "../parts/selection.js" */
/** @import { Filters, Qualifier } from "../parts/query-box.js" */
/** @import { StorePage, StoreView } from "../types/api" */
/** @import { Data } from "../types/requests" */

const LIMIT = 50;
/** Every crawl changes a store; a list of them need not follow each. */
const GAP_MS = 10_000;
const PARAMETERS = /** @type {const} */ (["state", "platform", "group", "crawl_enabled", "crawl_status", "q", "cursor"]);
/** The order of this page where its address says none. */
const TROUBLE = "trouble";
/** @type {Record<string, string>} */
const ORDERS = {
  trouble: "trouble first",
  name: "by name",
  name_desc: "by name, backwards",
  state: "by state",
  state_desc: "by state, backwards",
  last_complete: "the oldest crawl first",
  last_complete_desc: "the newest crawl first",
};

/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "words", parameter: "q", help: "of the name or city, or an id" },
  { word: "state", parameter: "state", help: "two letters, such as MI", read: readState },
  PLATFORM,
  { word: "group", parameter: "group", help: "a name" },
  {
    word: "crawls",
    parameter: "crawl_status",
    values: ["fresh", "late", "never_crawled", "needs_menu_id", "empty_menu", "held"],
    help: "the state of the crawls",
  },
  { word: "enabled", parameter: "crawl_enabled", type: "boolean", values: ["yes", "no"], help: "yes or no", read: readYes, write: writeYes },
];

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["cursor"], Object.keys(ORDERS));
  const sort = filters.query.get("sort") || TROUBLE;
  const path = pathOf("/api/stores", { ...pick(filters.query, PARAMETERS), sort, limit: LIMIT });
  const answer = useResource(path, { topics: ["task"], gap: GAP_MS });
  const steady = useSteadyRows(answer.data?.stores ?? [], (store) => store.id, path);
  const selection = useSelection(steady.rows, path);
  const [form, open] = useState(/** @type {"add" | "import" | null} */ (null));
  usePage("Stores", answer);
  const isOperator = may("operator");
  const actions = isOperator &&
    html`<button class="btn primary" type="button" onClick=${() => open("add")}><${Icon} name="plus" />Add store…</button>
      <button class="btn" type="button" onClick=${() => open("import")}>Import…</button>`;
  return html`<${PageHead} title="Stores" scope="crawl state, last complete crawl, and what each has now; times in UTC on hover">
      ${actions}</${PageHead}>
    <div class="row"><${QueryBox} filters=${filters} text="q" label="Filter stores"
      placeholder="Name, city or id; state:MI crawls:late" /></div>
    <section class="panel" aria-labelledby="h-stores"><h2 class="sr" id="h-stores">List of stores</h2>
      ${isOperator && answer.data && steady.rows.length > 0 &&
        html`<${Bulk} selected=${selection.ids} total=${answer.data.total} filters=${filters} onDone=${selection.clear} />`}
      <${Loaded} of=${answer} what="The list of stores" rows=${8}>${(/** @type {Data<typeof answer>} */ data) =>
        data.stores.length === 0
          ? html`<${None} filters=${filters}>${actions}</${None}>`
          : html`<${Table} data=${data} query=${filters.query} steady=${steady} selection=${isOperator ? selection : null} />`}</${Loaded}>
    </section>
    ${form === "add" && html`<${AddStore} onClose=${() => open(null)} />`}
    ${form === "import" && html`<${ImportStores} onClose=${() => open(null)} />`}`;
}

/**
 * @param {object} properties
 * @param {StorePage} properties.data
 * @param {URLSearchParams} properties.query
 * @param {ReturnType<typeof useSteadyRows<StoreView>>} properties.steady
 * @param {Selection | null} properties.selection
 */
function Table({ data, query, steady, selection }) {
  const head = headsOf(query, TROUBLE);
  return html`${head.select}<table class="table fold" ...${steady.hold}>
      <caption class="sr">Stores and how they are crawled</caption>
      <thead><tr>${selection && html`<${SelectAll} of=${selection} rows=${steady.rows.length} what="stores" />`}
        ${head("Store", ["name", "name_desc"], "w-third")}${head("State", ["state", "state_desc"])}${head("Crawls", [TROUBLE])}
        ${head("Last complete", ["last_complete", "last_complete_desc"], "num")}<th scope="col" class="num">Coverage</th>
        <th scope="col" class="num">Products</th><th scope="col" class="num">In stock</th><th scope="col">Groups</th>
        ${selection && html`<th scope="col"><span class="sr">Action</span></th>`}</tr></thead>
      <tbody>${steady.rows.map((store) =>
        html`<${Row} key=${store.id} of=${store} isSelected=${selection?.ids.has(store.id) ?? false}
          onSelect=${selection?.toggle ?? null} />`)}</tbody>
    </table>
    <${Waiting} waiting=${steady.waiting} onShow=${steady.show} />
    <${Pager} query=${query} next=${data.next_cursor} older="Next">
      ${count(data.stores.length)} of ${plural(data.total, "store")}, ${ORDERS[query.get("sort") || TROUBLE]}</${Pager}>`;
}

/** @param {{ filters: Filters, children?: Children }} properties */
function None({ filters, children }) {
  const filter = asText(filters);
  if (!filter && !filters.query.has("cursor")) {
    return html`<${Empty} icon="search" title="There is no store yet">
      <p>A task of the role store_discovery finds stores; you can add one, or import a list.</p>
      <div class="row">${children}</div></${Empty}>`;
  }
  return html`<${Empty} icon="search" title="No store matches"><p class="mono">${filter || "this page of the list"}</p>
    <a class="btn" href=${link("/admin/stores")}>All stores</a></${Empty}>`;
}
