// @ts-check
// Prices now against those of another day, and by unit between categories, brands and states.

import { pathOf } from "../core/api.js";
import { pick } from "../core/base.js";
import { html } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { suggestStores } from "../core/stores.js";
import { usePage } from "../parts/page.js";
import { Export } from "../parts/export.js";
import { PageHead } from "../parts/panel.js";
import { MAX_PER_GRAM, PRODUCT_QUALIFIERS } from "../parts/products.js";
import { filtersOf, PLATFORM, QueryBox, readId, readState, readTime } from "../parts/query-box.js";
import { Differences, Since, SORTS } from "./prices/differences.js";
import { askedOf, UnitPrices } from "./prices/unit-prices.js";
import { Weeks } from "./prices/weeks.js";
import { unitOf } from "./prices/units.js";

/** @import { Dataset } from "../parts/export.js" */
/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { Value } from "../types/requests" */

/** Maximum number of rows at first, and of all that are shown. */
const FEW = 20;
const ALL = 500;

/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "since", parameter: "since", help: "a day in UTC, such as 2026-11-22, whose prices are compared with those of now", read: readTime, accepts: (value) => readTime(value) !== null },
  { word: "direction", parameter: "direction", values: ["drop", "rise"], help: "drop or rise" },
  ...PRODUCT_QUALIFIERS,
  MAX_PER_GRAM,
  { word: "state", parameter: "state", help: "two letters, such as MI", read: readState },
  { word: "city", parameter: "city", help: 'a name; with spaces in quotes, "like this"' },
  PLATFORM,
  { word: "group", parameter: "group", help: "a name of stores" },
  { word: "store", parameter: "store", help: "a part of its name, or its id", read: readId, find: suggestStores },
];
const PARAMETERS = /** @type {const} */ ([
  "since", "direction", "q", "category", "brand", "in_stock", "on_special", "min_price", "max_price", "max_unit_price", "state", "city", "platform", "group",
  "store", "sort",
]);
/** Parameters that are no filters of products. */
const OTHERS = ["by", "unit", "left", "right", "rows"];

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, OTHERS, SORTS.map(([value]) => value));
  const asked = pick(filters.query, PARAMETERS);
  const isWhole = filters.query.get("rows") === "all";
  const answer = useResource(pathOf("/api/analytics/price-changes", { ...asked, limit: isWhole ? ALL : FEW }), { topics: ["rollups"], gap: 15_000 });
  usePage("Prices", answer);
  const market = { state: asked.state, category: asked.category, unit: unitOf(filters.query).name };
  /** @type {[Dataset, string, Record<string, Value>][]} */
  const lists = [
    ["price_changes", "Price changes", { ...asked, since: answer.data?.since }],
    ["unit_prices", "Prices by unit", askedOf(filters.query, market)],
  ];
  return html`<${PageHead} title="Prices" scope="now against another day, and by unit between categories and brands">
      ${answer.data && html`<${Export} datasets=${lists} of="the lists of this page" />`}</${PageHead}>
    <div class="row"><${QueryBox} filters=${filters} label="Filter prices" text="q"
      placeholder="Words of a name or brand; category:flower direction:drop" /><${Since} query=${filters.query} since=${answer.data?.since} /></div>
    <${Differences} answer=${answer} query=${filters.query} more=${isWhole ? 0 : FEW} />
    <${UnitPrices} query=${filters.query} market=${market} />
    <${Weeks} query=${filters.query} market=${market} />`;
}
