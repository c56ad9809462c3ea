// @ts-check
// Products of all stores, found by words of their name or brand.

import { link, pick, withQuery } from "../core/base.js";
import { count, plural } from "../core/format.js";
import { html } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { Icon } from "../parts/icon.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { products, PRODUCT_QUALIFIERS, ProductTable } from "../parts/products.js";
import { asText, QueryBox } from "../parts/query-box.js";
import { Pager } from "../parts/rows.js";

const LIMIT = 50;
const EXAMPLES = 8;

/** @type {import("../parts/query-box.js").Qualifier[]} */
const QUALIFIERS = [
  ...PRODUCT_QUALIFIERS,
  { word: "state", parameter: "state", help: "two letters, as MI", read: (text) => (/^[a-z]{2}$/i.test(text) ? text.toUpperCase() : null) },
];
const PARAMETERS = [...QUALIFIERS.map(({ parameter }) => parameter), "cursor"];

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const words = query.get("q");
  const path = words ? withQuery("/api/products/search", { ...pick(query, PARAMETERS), limit: LIMIT }) : null;
  const answer = useResource(path, { topics: ["rollups"], gap: 15_000 });
  usePage(words ? `Products: ${words}` : "Products", answer);
  return html`<${PageHead} title="Products" scope="of all stores, by words of the name or brand" />
    <div class="row"><${QueryBox} qualifiers=${QUALIFIERS} query=${query} text="q" label="Search products" placeholder="Words of a name or brand; state:MI in_stock:yes" /></div>
    ${words ? html`<${Found} answer=${answer} query=${query} path=${path} />` : html`<${Beginning} query=${query} />`}`;
}

/** @param {{ answer: import("../core/resource.js").Answer<any>, query: URLSearchParams, path: string }} properties */
const Found = ({ answer, query, path }) =>
  html`<section class="panel" aria-labelledby="h-found"><h2 class="sr" id="h-found">Products that were found</h2><${Loaded} of=${answer} what="The search" rows=${8}>${(/** @type {any} */ data) => html`
    <${Notes} of=${data} />
    ${data.products.length === 0
      ? html`<${None} query=${query} of=${data} />`
      : html`<${ProductTable} products=${data.products} scope=${path} caption="Products that were found, the best match first" stores=${true} />
          <${Pager} query=${query} next=${data.next_cursor} older="Next">${products(data.products.length)} ${data.next_cursor || query.has("cursor") ? "on this page" : "in all"}, the best match first</${Pager}>`}`}</${Loaded}></section>`;

/** How the search was made, where that matters. @param {{ of: any }} properties */
function Notes({ of }) {
  const notes = [
    of.match === "trigrams" && of.products.length > 0 && "No product has these words. These are spelled alike.",
    of.truncated && "So many match that only a part of them was looked at: more words or a filter find more exactly.",
    of.stores_waiting > 0 && `${plural(of.stores_waiting, "crawled store")} ${of.stores_waiting === 1 ? "is" : "are"} not searched yet: the index follows the crawls.`,
    !of.forgives_spelling && "This server has no trigrams: a spelling mistake finds nothing.",
  ].filter(Boolean);
  return notes.length > 0 && html`<div class="panel-head" role="status"><ul class="soft">${notes.map((note) => html`<li><${Icon} name="search" /> ${note}</li>`)}</ul></div>`;
}

/** @param {{ query: URLSearchParams, of: any }} properties */
function None({ query }) {
  const words = query.get("q");
  const isFiltered = QUALIFIERS.some(({ parameter }) => parameter !== "q" && query.get(parameter)) || query.has("cursor");
  return html`<${Empty} icon="search" title="No product matches">
    <p class="mono">${asText(QUALIFIERS, query)}</p>
    ${isFiltered ? html`<a class="btn" href=${link("/admin/products", { q: words })}>Without filters</a>` : html`<a class="btn" href=${link("/admin/products")}>Another search</a>`}
  </${Empty}>`;
}

/** The search needs words: what to type, and words that are there. @param {{ query: URLSearchParams }} properties */
function Beginning({ query }) {
  const filters = pick(query, PARAMETERS.filter((name) => name !== "q" && name !== "cursor"));
  const isFiltered = Object.values(filters).some(Boolean);
  return html`<section class="panel" aria-labelledby="h-search"><h2 class="sr" id="h-search">How to search</h2><${Empty} icon="search" title=${isFiltered ? "The filters need words to look for" : "Type words of a name or brand"}>
      <p>The beginnings of words are enough, and a spelling mistake is forgiven. Filters narrow it down: <span class="mono">category: brand: in_stock: on_special: min_price: max_price: state:</span></p>
      <p>The products of one store, without words, are on the page of the <a class="link" href=${link("/admin/stores")}>store</a>.</p>
      ${isFiltered && html`<a class="btn" href=${link("/admin/products")}>Clear the filters</a>`}
    </${Empty}></section>
    <div class="cols two"><${Brands} filters=${filters} /><${Categories} /></div>`;
}

/** @param {{ filters: Record<string, string | null> }} properties */
function Brands({ filters }) {
  const answer = useResource(withQuery("/api/analytics/brand-presence", { limit: EXAMPLES }));
  return html`<${Panel} title="Search by brand" scope="brands in the most stores of one state"><${Loaded} of=${answer} what="The list of brands">${(/** @type {any} */ data) =>
    data.brands.length === 0
      ? html`<p class="panel-body dim">No product has been crawled yet.</p>`
      : html`<ul class="panel-body">${data.brands.map(
          (/** @type {any} */ each) => html`<li><a class="link" href=${link("/admin/products", { ...filters, q: each.brand, state: each.state })}><bdi>${each.brand}</bdi>${each.state && ` in ${each.state}`}</a> <span class="scope">${products(each.products)} in ${plural(each.stores, "store")}</span></li>`,
        )}</ul>`}</${Loaded}></${Panel}>`;
}

function Categories() {
  const answer = useResource(withQuery("/api/analytics/category-mix", { limit: EXAMPLES }));
  return html`<${Panel} title="What there is" scope="categories of all stores"><${Loaded} of=${answer} what="The list of categories">${(/** @type {any} */ data) =>
    data.categories.length === 0
      ? html`<p class="panel-body dim">No product has been crawled yet.</p>`
      : html`<ul class="panel-body">${data.categories.map(
          (/** @type {any} */ each) => html`<li><a class="link" href=${link("/admin/products", { category: each.category })}><bdi>${each.category}</bdi></a> <span class="scope">${count(each.products_in_stock)} of ${products(each.products)} in stock</span></li>`,
        )}</ul>`}</${Loaded}></${Panel}>`;
}
