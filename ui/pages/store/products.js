// @ts-check
// The products of a store, by the filters in the address.

import { pathOf } from "../../core/api.js";
import { link, pick } from "../../core/base.js";
import { count } from "../../core/format.js";
import { html, useEffect } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { setQuery } from "../../core/router.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { products, PRODUCT_QUALIFIERS, ProductTable } from "../../parts/products.js";
import { asText, filtersOf, QueryBox } from "../../parts/query-box.js";
import { Pager } from "../../parts/rows.js";

/** @import { EventOf } from "../../core/html.js" */
/** @import { StoreView } from "../../types/api" */
/** @import { Data } from "../../types/requests" */

const LIMIT = 50;
/** Names of products do not change from second to second; fifty rows need not follow each crawl. */
const GAP_MS = 15_000;
const PARAMETERS = [...PRODUCT_QUALIFIERS.map(({ parameter }) => parameter), "sort", "cursor"];
/** @type {[string, string][]} */
const SORTS = [
  ["", "by name"],
  ["brand", "by brand"],
  ["price", "cheapest first"],
  ["price_desc", "dearest first"],
  ["unit_price", "cheapest by gram or THC first"],
  ["newest", "newest first"],
];

/** @param {{ id: number, query: URLSearchParams, store: StoreView | null }} properties */
export function Products({ id, query, store }) {
  const filters = filtersOf(PRODUCT_QUALIFIERS, query, ["cursor"], ["name", ...SORTS.map(([value]) => value)]);
  const path = pathOf("/api/stores/{id}/products", { id, ...pick(filters.query, PARAMETERS), limit: LIMIT });
  const answer = useResource(path, { topics: ["rollups"], gap: GAP_MS });
  const isThere = answer.data !== null;
  useEffect(() => {
    if (isThere && location.hash === "#products") document.getElementById("products")?.scrollIntoView();
  }, [isThere]);
  const filter = asText(filters);
  const scope = !filter && store ? `${products(store.products)}, ${count(store.in_stock)} in stock` : "those that match the filter";
  return html`<${Panel} title="Products" id="products" scope=${scope}>
    <div class="panel-body row">
      <${QueryBox} filters=${filters} text="q" label="Filter products"
        placeholder="Name or brand; category:flower in_stock:yes" />
      <label class="sr" for="sort">Order</label>
      <select id="sort" onChange=${(/** @type {EventOf<HTMLSelectElement>} */ event) =>
        setQuery({ sort: event.target.value, cursor: null })}>
        ${SORTS.map(([value, word]) => html`<option value=${value} selected=${(query.get("sort") ?? "") === value}>${word}</option>`)}
      </select>
    </div>
    <${Loaded} of=${answer} what="The list of products" rows=${6}>${(/** @type {Data<typeof answer>} */ data) =>
      data.products.length === 0
        ? html`<${None} id=${id} filter=${filter} />`
        : html`<${ProductTable} products=${data.products} scope=${path} caption="Products of this store" query=${filters.query} byName="" />
            <${Pager} query=${filters.query} next=${data.next_cursor} older="Next">
              ${products(data.products.length)} on this page</${Pager}>`}</${Loaded}>
  </${Panel}>`;
}

/** @param {{ id: number, filter: string }} properties */
const None = ({ id, filter }) =>
  filter
    ? html`<${Empty} icon="search" title="No product matches"><p class="mono">${filter}</p>
        <a class="btn" href=${link(`/admin/stores/${id}`)}>All products of the store</a></${Empty}>`
    : html`<${Empty} icon="pending" title="This store has no products yet"><p>Its first complete crawl adds them.</p></${Empty}>`;
