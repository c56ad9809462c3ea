// @ts-check
// Products of all stores, found by words of their name or brand, or by filters alone.

import { pathOf } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { count, plural } from "../core/format.js";
import { html } from "../core/html.js";
import { suggestStores } from "../core/stores.js";
import { useResource } from "../core/resource.js";
import { setQuery } from "../core/router.js";
import { Export } from "../parts/export.js";
import { Icon } from "../parts/icon.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { MAX_PER_GRAM, products, PRODUCT_QUALIFIERS, ProductTable } from "../parts/products.js";
import { asText, filtersOf, PLATFORM, QueryBox, readId } from "../parts/query-box.js";
import { Pager } from "../parts/rows.js";

/** @import { Filters, Qualifier } from "../parts/query-box.js" */
/** @import { EventOf } from "../core/html.js" */
/** @import { Answer } from "../core/resource.js" */
/** @import { FoundPage } from "../types/api" */
/** @import { Data } from "../types/requests" */

const LIMIT = 50;
const EXAMPLES = 8;

/** @type {Qualifier[]} */
const QUALIFIERS = [
  ...PRODUCT_QUALIFIERS,
  MAX_PER_GRAM,
  { word: "state", parameter: "state", help: "two letters, such as MI", read: (text) => (/^[a-z]{2}$/i.test(text) ? text.toUpperCase() : null) },
  { word: "city", parameter: "city", help: 'a name; with spaces in quotes, "like this"' },
  PLATFORM,
  { word: "store", parameter: "store", help: "a part of its name, or its id", read: readId, find: suggestStores },
];
const PARAMETERS = [...QUALIFIERS.map(({ parameter }) => parameter), "sort", "cursor"];
/** @type {[string, string][]} */
const SORTS = [
  ["name", "by name"],
  ["price", "cheapest first"],
  ["price_desc", "dearest first"],
  ["unit_price", "cheapest by gram or THC first"],
  ["price_change", "latest price change first"],
  ["newest", "newest first"],
];

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["cursor"], ["", ...SORTS.map(([value]) => value)]);
  const words = filters.query.get("q");
  const isAsked = PARAMETERS.some((name) => filters.query.get(name));
  const path = isAsked ? pathOf("/api/products/search", { ...pick(filters.query, PARAMETERS), limit: LIMIT }) : null;
  const answer = useResource(path, { topics: ["rollups"], gap: 15_000 });
  usePage(words ? `Products: ${words}` : "Products", answer);
  const exported = pick(filters.query, QUALIFIERS.map(({ parameter }) => parameter));
  return html`<${PageHead} title="Products" scope="of all stores, by words of the name or brand, or by filters">
      ${path && !answer.data?.truncated && html`<${Export} datasets=${[["products", "Products"]]} of="the products that match" filters=${exported} />`}
    </${PageHead}>
    <div class="row"><${QueryBox} filters=${filters} text="q" label="Search products"
      placeholder="Words of a name or brand; state:MI in_stock:yes" />${path && html`<${Order} query=${filters.query} />`}</div>
    ${path ? html`<${Found} answer=${answer} filters=${filters} path=${path} />` : html`<${Beginning} />`}`;
}

/**
 * The server's own order has no name in the address: the best match first, without words by name.
 * @param {{ query: URLSearchParams }} properties
 */
function Order({ query }) {
  const sorts = query.get("q") ? [["", "best match first"], ...SORTS] : SORTS.map(([value, word]) => [value === "name" ? "" : value, word]);
  return html`<label class="sr" for="sort">Order</label>
    <select id="sort" onChange=${(/** @type {EventOf<HTMLSelectElement>} */ event) => setQuery({ sort: event.target.value, cursor: null })}>
      ${sorts.map(([value, word]) => html`<option value=${value} selected=${(query.get("sort") ?? "") === value}>${word}</option>`)}
    </select>`;
}

/** @param {{ answer: Answer<FoundPage>, filters: Filters, path: string }} properties */
const Found = ({ answer, filters, filters: { query }, path }) =>
  html`<section class="panel" aria-labelledby="h-found"><h2 class="sr" id="h-found">Products that were found</h2>
    <${Loaded} of=${answer} what="The search" rows=${8}>${(/** @type {FoundPage} */ data) => html`
      <${Notes} of=${data} />
      ${data.products.length === 0
        ? html`<${None} filters=${filters} />`
        : html`<${ProductTable} products=${data.products} scope=${path} caption="Products that were found" stores=${true} query=${query}
              byName=${query.get("q") ? "name" : ""} />
            <${Pager} query=${query} next=${data.next_cursor} older="Next">
              ${products(data.products.length)} ${data.next_cursor || query.has("cursor") ? "on this page" : "in all"}
              </${Pager}>`}`}</${Loaded}></section>`;

/** Notes on the search method, where it matters. @param {{ of: FoundPage }} properties */
function Notes({ of }) {
  const [were, are] = of.stores_waiting === 1 ? ["was", "is"] : ["were", "are"];
  const notes = [
    (of.match === "corrected" || of.match === "trigrams") && of.products.length > 0 &&
      "No product has these words. These have a similar spelling.",
    of.truncated && "Only a part of the matches was searched: add a word or a filter.",
    of.stores_waiting > 0 &&
      `${plural(of.stores_waiting, "store")} ${were} crawled just now and ${are} not in the search yet.`,
    !of.forgives_spelling && "Misspelled words find nothing yet: the words of products are still being counted.",
  ].filter(Boolean);
  return notes.length > 0 &&
    html`<div class="panel-head" role="status">
      <ul class="soft">${notes.map((note) => html`<li><${Icon} name="search" /> ${note}</li>`)}</ul></div>`;
}

/** @param {{ filters: Filters }} properties */
function None({ filters, filters: { query } }) {
  const words = query.get("q");
  const isFiltered = QUALIFIERS.some(({ parameter }) => parameter !== "q" && query.get(parameter)) || query.has("cursor");
  return html`<${Empty} icon="search" title="No product matches">
    <p class="mono">${asText(filters)}</p>
    ${words && isFiltered
      ? html`<a class="btn" href=${link("/admin/products", { q: words })}>Without filters</a>`
      : html`<a class="btn" href=${link("/admin/products")}>Another search</a>`}
  </${Empty}>`;
}

/** A hint for the search, with existing words. */
function Beginning() {
  return html`<section class="panel" aria-labelledby="h-search"><h2 class="sr" id="h-search">How to search</h2>
    <${Empty} icon="search" title="Type words of a name or brand">
        <p>The beginnings of words are enough, and a spelling mistake is forgiven. Filters narrow it down: <span
          class="mono">category: brand: in_stock: on_special: min_price: max_price: max_per_gram: state: city: platform: store:</span></p>
        <p>Filters alone list every product that matches them: <a class="link"
          href=${link("/admin/products", { sort: "newest" })}>the newest</a>, <a class="link"
          href=${link("/admin/products", { sort: "price_change" })}>the latest price changes</a>.</p>
      </${Empty}></section>
      <div class="cols two"><${Brands} /><${Categories} /></div>`;
}

function Brands() {
  const answer = useResource(pathOf("/api/analytics/brand-presence", { limit: EXAMPLES }));
  return html`<${Panel} title="By brand" scope="brands in the most stores of one state">
    <${Loaded} of=${answer} what="The list of brands">${(/** @type {Data<typeof answer>} */ data) =>
      data.brands.length === 0
        ? html`<p class="panel-body dim">No product has been crawled yet.</p>`
        : html`<ul class="panel-body">${data.brands.map(
            (each) => html`<li><a class="link"
              href=${link("/admin/products", { brand: each.brand, state: each.state })}><bdi>${each.brand}</bdi>
              ${each.state && ` in ${each.state}`}</a> <span class="scope">
              ${products(each.products)} in ${plural(each.stores, "store")}</span></li>`,
          )}</ul>`}</${Loaded}></${Panel}>`;
}

function Categories() {
  const answer = useResource(pathOf("/api/analytics/category-mix", { limit: EXAMPLES }));
  return html`<${Panel} title="What there is" scope="categories of all stores">
    <${Loaded} of=${answer} what="The list of categories">${(/** @type {Data<typeof answer>} */ data) =>
      data.categories.length === 0
        ? html`<p class="panel-body dim">No product has been crawled yet.</p>`
        : html`<ul class="panel-body">${data.categories.map(
            (each) => html`<li><a class="link" href=${link("/admin/products", { category: each.category })}>
              <bdi>${each.category}</bdi></a> <span class="scope">
              ${count(each.products_in_stock)} of ${products(each.products)} in stock</span></li>`,
          )}</ul>`}</${Loaded}></${Panel}>`;
}
