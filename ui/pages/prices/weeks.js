// @ts-check
// Brand against brand, week by week: the share of menus that have it in stock, and its median price by unit.

import { pathOf } from "../../core/api.js";
import { count, day, decimal, plural, share } from "../../core/format.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { Chart, Key, Line, ticksTo } from "../../parts/chart.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { unitOf } from "./units.js";
import { scopeOf } from "./unit-prices.js";

/** @import { UnitPrices } from "../../types/api" */
/** @import { Data } from "../../types/requests" */
/** @import { Market } from "./unit-prices.js" */
/** @import { Unit } from "./units.js" */

const MAX_WEEKS = 53;
const KINDS = ["c1", "c2"];

/** @typedef {{ name: string, kind: string, weeks: Map<string, UnitPrices> }} Brand */

/** @param {{ query: URLSearchParams, market: Market }} properties */
export function Weeks({ query, market }) {
  const unit = unitOf(query);
  const answer = useResource(pathOf("/api/analytics/unit-prices", { ...market, unit: unit.name, by: "brand", limit: 2 }), { topics: ["rollups"], gap: 15_000 });
  const chosen = [query.get("left"), query.get("right")].filter((name) => name !== null);
  const title = "Brand against brand";
  return html`<${Panel} title=${title} scope=${scopeOf(market, "week by week")}>
    <${Loaded} of=${answer} what="The list of brands">${(/** @type {Data<typeof answer>} */ data) => {
      const names = chosen.length > 0 ? chosen : data.prices.map(({ brand }) => brand ?? "");
      return names.length === 0
        ? html`<${Empty} icon="search" title="No brand is in stock here" />`
        : html`<${Charts} names=${names} market=${market} unit=${unit} hasChosen=${chosen.length > 0} />`;
    }}</${Loaded}>
  </${Panel}>`;
}

/** @param {{ names: string[], market: Market, unit: Unit, hasChosen: boolean }} properties */
function Charts({ names, market, unit, hasChosen }) {
  const [first, second] = [useWeeks(names[0], market), useWeeks(names[1] ?? names[0], market)];
  const pages = [first.data, second.data].slice(0, names.length);
  /** @type {Brand[]} */
  const brands = pages.map((page, at) => ({
    name: names[at],
    kind: KINDS[at],
    weeks: new Map((page?.prices ?? []).map((row) => [row.week, row])),
  }));
  const weeks = [...new Set(brands.flatMap((brand) => [...brand.weeks.keys()]))].sort();
  if (weeks.length === 0) return html`<p class="panel-body dim">${first.loading || second.loading ? "Reading…" : "No week has them in stock."}</p>`;
  const period = weeks.length === 1 ? `week of ${day(weeks[0])}` : `${plural(weeks.length, "week")} from ${day(weeks[0])}`;
  return html`<div class="panel-body"><div class="cols two">
      <${Comparison} title="Menus" unit=${`percent that have it in stock, ${period}`} brands=${brands} weeks=${weeks}
        of=${(/** @type {UnitPrices} */ row) => 100 * row.share} text=${(/** @type {number} */ value) => `${decimal(value)} %`} />
      <${Comparison} title="Median" unit=${`${unit.axis}, ${period}`} brands=${brands} weeks=${weeks}
        of=${(/** @type {UnitPrices} */ row) => (typeof row.median === "number" ? row.median / unit.scale : null)}
        text=${(/** @type {number} */ value) => unit.text(value * unit.scale)} />
    </div>
    <${Table} brands=${brands} weeks=${weeks} unit=${unit} />
    ${!hasChosen && html`<p class="scope">The two brands on most menus; others are chosen in the list by brand above.</p>`}</div>`;
}

/** @param {string} brand @param {Market} market */
function useWeeks(brand, market) {
  const path = pathOf("/api/analytics/unit-prices", { ...market, brand, by: "week", limit: MAX_WEEKS });
  return useResource(path, { topics: ["rollups"], gap: 15_000 });
}

/**
 * @param {object} properties
 * @param {string} properties.title
 * @param {string} properties.unit
 * @param {Brand[]} properties.brands
 * @param {string[]} properties.weeks
 * @param {(row: UnitPrices) => number | null} properties.of
 * @param {(value: number) => string} properties.text
 */
function Comparison({ title, unit, brands, weeks, of, text }) {
  const values = brands.map(({ weeks: rows }) => weeks.map((week) => {
    const row = rows.get(week);
    return row ? of(row) : null;
  }));
  const ticks = ticksTo(Math.max(0, ...values.flat().map((value) => value ?? 0)));
  const sentence = brands.map(({ name }, at) => {
    const last = values[at][weeks.length - 1];
    return `${name}: ${last === null ? "none" : text(last)} in the last week`;
  }).join("; ");
  const axis = weeks.length < 2 ? [] : [{ text: day(weeks[0]), at: 0 }, { text: day(weeks[weeks.length - 1]), at: 100 }];
  return html`<${Chart} title=${title} unit=${unit} from=${weeks[0]} ticks=${ticks} axis=${axis} label=${`${title}. ${sentence}.`} height=${8}
    legend=${brands.map(({ name, kind }) => html`<${Key} key=${name} kind=${kind}><bdi>${name}</bdi></${Key}>`)}>
    ${brands.map(({ name, kind }, at) => html`<${Line} key=${name} values=${values[at]} top=${ticks[ticks.length - 1]} kind=${kind}
      text=${(/** @type {number} */ value, /** @type {number} */ nth) => `${name}, week of ${day(weeks[nth])}: ${text(value)}`} />`)}
  </${Chart}>`;
}

/** @param {{ brands: Brand[], weeks: string[], unit: Unit }} properties */
const Table = ({ brands, weeks, unit }) => html`<details class="values"><summary>Weeks as a table</summary><table class="table fold">
  <caption class="sr">Brands by week, the newest first</caption>
  <thead><tr><th scope="col">Week of</th><th scope="col">Brand</th><th scope="col" class="num">Menus</th>
    <th scope="col" class="num">Options</th><th scope="col" class="num">Median</th></tr></thead>
  <tbody>${weeks.toReversed().flatMap((week) => brands.map(({ name, weeks: rows }) => {
    const row = rows.get(week);
    return row && html`<tr key=${`${week} ${name}`}><th scope="row" class="key">${day(week)}</th><td class="fact"><bdi>${name}</bdi></td>
      <td class="num fact" data-l="menus">${count(row.stores)} <span class="scope">${share(row.share, 1)}</span></td>
      <td class="num fact" data-l="options">${count(row.options)}</td><td class="num end">${unit.text(row.median)}</td></tr>`;
  }))}</tbody></table></details>`;
