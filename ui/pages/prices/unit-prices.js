// @ts-check
// Prices by unit of things in stock: a row for each category, brand or state.

import { pathOf } from "../../core/api.js";
import { link } from "../../core/base.js";
import { count, plural, sentence, share } from "../../core/format.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { currentPath, setQuery } from "../../core/router.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { Ago } from "../../parts/time.js";
import { unitOf, UNITS } from "./units.js";

/** @import { EventOf } from "../../core/html.js" */
/** @import { UnitPrices as Prices } from "../../types/api" */
/** @import { Data } from "../../types/requests" */

const LIMIT = 50;
const BY = /** @type {const} */ (["category", "brand", "state"]);

/** @typedef {{ state?: string | null, category?: string | null, unit: string }} Market */

/** The filters of the list, as the API names them. @param {URLSearchParams} query @param {Market} market */
export function askedOf(query, market) {
  const by = BY.find((name) => name === query.get("by")) ?? "category";
  return { ...market, by, brand: by === "brand" ? null : query.get("brand") };
}

/** @param {{ query: URLSearchParams, market: Market }} properties */
export function UnitPrices({ query, market }) {
  const asked = askedOf(query, market);
  const [by, unit] = [asked.by, unitOf(query)];
  const path = pathOf("/api/analytics/unit-prices", { ...asked, limit: LIMIT });
  const answer = useResource(path, { topics: ["rollups"], gap: 15_000 });
  const choices = html`<span class="row"><${Choice} label="Rows" name="by" value=${by} values=${BY.map((name) => [name, `by ${name}`])} />
    <${Choice} label="Unit" name="unit" value=${unit.name} values=${UNITS.map(({ name, word }) => [name, word])} /></span>`;
  return html`<${Panel} title="Prices by unit" scope=${scopeOf(market, "what is in stock, this week")} more=${choices}>
    <${Loaded} of=${answer} what="The comparison of units">${(/** @type {Data<typeof answer>} */ data) =>
      data.prices.length === 0
        ? html`<${Empty} icon="search" title=${data.as_of ? "Nothing in stock matches" : "Nothing to compare yet"}>
            <p>${data.as_of ? "The filters for state, category and brand hold here, too." : "Prices by unit are computed by each refresh of analytics."}</p></${Empty}>`
        : html`<table class="table fold">
            <caption class="sr">Prices by unit, those on most menus first</caption>
            <thead><tr><th scope="col" class="w-quarter">${sentence(by)}</th>
              <th scope="col" class="num">Menus</th><th scope="col" class="num">Options</th><th scope="col" class="num">Lowest</th>
              <th scope="col" class="num">Quarter</th><th scope="col" class="num">Median</th><th scope="col" class="num">Three quarters</th>
              <th scope="col" class="num">Highest</th>${by === "brand" && html`<th scope="col" class="num"><span class="sr">Compare</span></th>`}</tr></thead>
            <tbody>${data.prices.map((row) => html`<${Row} key=${`${row.state} ${row.category} ${row.brand}`} of=${row} by=${by} query=${query} />`)}</tbody>
          </table>
          <p class="panel-foot">${data.next_cursor ? `The ${count(data.prices.length)} on most menus` : plural(data.prices.length, "row")}, prices ${
            unit.word} of what is paid, as of <${Ago} at=${data.as_of} after="ago" /></p>`}</${Loaded}>
  </${Panel}>`;
}

/** @param {{ label: string, name: string, value: string, values: string[][] }} properties */
const Choice = ({ label, name, value, values }) => html`<select aria-label=${label}
  onChange=${(/** @type {EventOf<HTMLSelectElement>} */ event) => setQuery({ [name]: event.target.value === values[0][0] ? null : event.target.value })}>
  ${values.map(([each, word]) => html`<option key=${each} value=${each} selected=${each === value}>${word}</option>`)}</select>`;

/** @param {{ of: Prices, by: (typeof BY)[number], query: URLSearchParams }} properties */
function Row({ of, by, query }) {
  const unit = unitOf(query);
  const name = of[by] ?? "";
  const narrowed = link(currentPath(), { ...Object.fromEntries(query), [by]: name, ...(by === "category" ? { by: "brand" } : {}) });
  return html`<tr data-row>
    <th scope="row" class="key cut"><a href=${narrowed}><bdi>${by === "category" ? name.replaceAll("_", " ") : name}</bdi></a></th>
    <td class="num fact" data-l="menus">${count(of.stores)} <span class="scope">${share(of.share, 1)}</span></td>
    <td class="num fact" data-l="options">${count(of.options)}</td>
    <td class="num fact" data-l="lowest">${unit.text(of.min)}</td>
    <td class="num fact not-phone">${unit.text(of.p25)}</td>
    <td class="num end">${unit.text(of.median)}</td>
    <td class="num fact not-phone">${unit.text(of.p75)}</td>
    <td class="num fact" data-l="highest">${unit.text(of.max)}</td>
    ${by === "brand" && html`<td class="num line"><${Compare} brand=${name} query=${query} /></td>`}
  </tr>`;
}

/** The last two brands that were chosen are compared. @param {{ brand: string, query: URLSearchParams }} properties */
function Compare({ brand, query }) {
  const [left, right] = [query.get("left"), query.get("right")];
  const isOn = brand === left || brand === right;
  const choose = () => setQuery(isOn ? { left: left === brand ? right : left, right: null } : { left: right ?? left, right: left ? brand : null, ...(left ? {} : { left: brand }) });
  return html`<button class="btn small" type="button" aria-pressed=${isOn} aria-label=${`Compare ${brand}`} onClick=${choose}>Compare</button>`;
}

/** @param {Market} market @param {string} words */
export const scopeOf = ({ state, category }, words) => [category?.replaceAll("_", " "), state && `in ${state}`, words].filter(Boolean).join(", ");
