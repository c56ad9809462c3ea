// @ts-check
// Changes of prices and stock: the feed, newest first, and the rules that send changes to endpoints.

import { pathOf } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { plural } from "../core/format.js";
import { html } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { currentPath } from "../core/router.js";
import { suggestStores } from "../core/stores.js";
import { Export } from "../parts/export.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { MAX_PER_GRAM, PRODUCT_QUALIFIERS, readDollars, writeDollars } from "../parts/products.js";
import { filtersOf, QueryBox, readId, readState, readTime } from "../parts/query-box.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { Feed } from "./changes/feed.js";
import { Rules } from "./changes/rules.js";
import { KIND_NAMES, TABS } from "./changes/words.js";

/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { ChangePage } from "../types/api" */
/** @import { Data } from "../types/requests" */

const LIMIT = 50;
/** Maximum time for which the server looks for changes that fit: an event may make each open page ask. */
const SEARCH = "2s";
const GAP_MS = 3_000;
const SEARCH_GAP_MS = 6_000;

/** One kind, or several with commas. @param {string} text */
const kinds = (text) => (text.split(",").every((each) => KIND_NAMES.some((name) => name === each)) ? text : null);
/** @param {string} text */
const number = (text) => (/^\d+(\.\d+)?$/.test(text) ? text : null);

/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "kind", parameter: "kind", values: KIND_NAMES, read: kinds, help: `${KIND_NAMES.join(", ")}; several with commas` },
  { word: "store", parameter: "store", help: "a part of its name, or its id", read: readId, find: suggestStores },
  { word: "group", parameter: "group", help: "a name of stores" },
  { word: "state", parameter: "state", help: "two letters, such as MI", read: readState },
  ...PRODUCT_QUALIFIERS.filter(({ word }) => ["brand", "category", "max_price"].includes(word)),
  MAX_PER_GRAM,
  { word: "product", parameter: "product", help: "its id", read: readId },
  { word: "min_percent", parameter: "min_percent", help: "a number: the change of the price up or down, such as 10", read: number },
  { word: "min_change", parameter: "min_cents", help: "dollars up or down, such as 2.50", read: readDollars, write: writeDollars },
  { word: "from", parameter: "from", help: "a day or time in UTC, such as 2026-11-22", read: readTime, accepts: (value) => readTime(value) !== null },
];
const PARAMETERS = /** @type {const} */ ([
  "kind", "store", "group", "state", "brand", "category", "max_price", "max_unit_price", "product", "min_percent", "min_cents", "from",
]);

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["cursor"]);
  const asked = pick(filters.query, PARAMETERS);
  const before = filters.query.get("cursor");
  const isFiltered = Object.values(asked).some(Boolean);
  const path = pathOf("/api/changes", { ...asked, sort: "newest", before, limit: LIMIT, wait: SEARCH });
  // what lies behind a cursor does not change
  const answer = useResource(path, { topics: before ? [] : ["changes"], gap: isFiltered ? SEARCH_GAP_MS : GAP_MS });
  const steady = useSteadyRows(answer.data?.changes ?? [], ({ cursor }) => cursor, path);
  const { from: since, ...others } = asked;
  usePage("Changes", answer);
  return html`<${PageHead} title="Changes" scope="of prices and stock, between the crawls of each store, newest first">
      <a class="btn" href="#rules">Rules</a>
      <${Export} datasets=${[["changes", "Changes"]]} of="the changes that match" filters=${{ ...others, since }} /></${PageHead}>
    <${QueryBox} filters=${filters} label="Filter changes" text="brand"
      placeholder="kind:price_drop min_percent:10 category:flower" />
    <${Tabs} query=${query} kind=${asked.kind ?? ""} />
    <${Panel} title="Feed" scope=${isFiltered ? "changes that match" : "all changes"}>
      <${Loaded} of=${answer} what="The feed of changes">${(/** @type {Data<typeof answer>} */ data) =>
        steady.rows.length === 0
          ? html`<${Nothing} page=${data} isFiltered=${isFiltered} query=${query} />`
          : html`<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />
              <${Feed} changes=${steady.rows} /></div>
              <${Pager} query=${query} next=${data.caught_up ? null : data.next_cursor}>
                ${plural(steady.rows.length, "change")} on this page</${Pager}>`}</${Loaded}>
    </${Panel}>
    <${Rules} />`;
}

/** Kinds at a click. @param {{ query: URLSearchParams, kind: string }} properties */
function Tabs({ query, kind }) {
  const others = Object.fromEntries([...query].filter(([name]) => name !== "kind" && name !== "cursor"));
  return html`<nav aria-label="Kinds of changes"><ul class="tabs">${TABS.map(([word, all]) => {
    const value = all.join(",");
    return html`<li key=${word}><a href=${link(currentPath(), { ...others, kind: value })}
      aria-current=${value === kind ? "true" : undefined}>${word}</a></li>`;
  })}</ul></nav>`;
}

/** @param {{ page: ChangePage, isFiltered: boolean, query: URLSearchParams }} properties */
function Nothing({ page, isFiltered, query }) {
  if (!page.caught_up) return html`<${Empty} icon="search" title="No change matches among the newest ones">
    <a class="btn" href=${link(currentPath(), { ...Object.fromEntries(query), cursor: page.next_cursor })}>Look further back</a></${Empty}>`;
  if (isFiltered) return html`<${Empty} icon="search" title="No change matches">
    <a class="btn" href=${link("/admin/changes")}>Show all</a></${Empty}>`;
  return html`<${Empty} icon="pending" title="There are no changes yet">
    <p>A store's first whole crawl is the baseline; each later one is compared with what is known.</p></${Empty}>`;
}
