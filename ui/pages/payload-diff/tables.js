// @ts-check
// The lists of a diff. Each shows its first rows; `all` in the address names the one that shows all of them.

import { link } from "../../core/base.js";
import { count, money, sizeName } from "../../core/format.js";
import { html } from "../../core/html.js";
import { currentPath } from "../../core/router.js";
import { Delta } from "../../parts/delta.js";
import { Icon } from "../../parts/icon.js";
import { Panel } from "../../parts/panel.js";

/** @import { Children } from "../../core/html.js" */
/** @import { OptionsChange, Prices as PricesOf, ProductOffer as Offer, StockLevel } from "../../types/api" */
/** @import { ProductChangePrices as PriceChange } from "../../types/api" */
/** @import { ProductChangeStockLevel as StockChange } from "../../types/api" */
/** @typedef {ReturnType<typeof priceLines>[number]} PriceLine */
/** @typedef {ReturnType<typeof stockLines>[number]} StockLine */
/** @typedef {{ number: number, store: number | null, query: URLSearchParams }} Shared */

const SHOWN = { prices: 10, stock: 6, added: 4, removed: 4, options: 4 };
/** Change in percent that fills its half of the bar. */
const FULL_PERCENT = 60;
const BAR_WIDTH = 80;

/** @param {{ rows: PriceChange[] } & Shared} properties */
export function Prices({ rows, ...shared }) {
  const lines = largestFirst(rows.flatMap((product) => priceLines(product)), ({ from, to }) => changeOf(from, to));
  return html`<${List} id="prices" title="Prices" lines=${lines} what="prices" order="the largest change first" none="No price changed." ...${shared}>
    ${(/** @type {PriceLine[]} */ shown) => html`<table class="table fold">
      <thead><tr><th scope="col" class="w-third">Product</th><th scope="col">Option</th>
        <th scope="col" class="num">From $</th><th scope="col" class="num">To $</th>
        <th scope="col" class="num">Change</th><th scope="col"><span class="sr">Size of the change</span></th></tr></thead>
      <tbody>${shown.map(({ product, option, from, to, word }, at) => html`<tr key=${at} data-row>
        <th scope="row" class="key cut"><${Name} of=${product} store=${shared.store} /></th>
        <td class="fact"><bdi>${option}</bdi>${word && html` <span class="dim">${word}</span>`}</td>
        <td class="num fact" data-l="from">${dollars(from)}</td>
        <td class="num fact" data-l="to">${dollars(to)}</td>
        <td class="num end"><${Delta} from=${from} to=${to} /></td>
        <td class="low"><${Bar} from=${from} to=${to} /></td>
      </tr>`)}</tbody>
    </table>`}</${List}>`;
}

/**
 * Lines of equal size stay in menu order.
 * @template T
 * @param {T[]} lines
 * @param {(line: T) => number} sizeOf
 */
const largestFirst = (lines, sizeOf) => [...lines].sort((one, other) => sizeOf(other) - sizeOf(one));

/** The size of a change as a share; that from or to nothing is the largest. @param {number | null} from @param {number | null} to */
const changeOf = (from, to) => (from && to !== null ? Math.abs(to - from) / from : Number.MAX_VALUE);

/** @param {StockLevel} of */
const amountOf = (of) => (of.isInStock ? (of.quantity ?? null) : 0);

/** A line per option, or the product's own price where no option has changed. @param {PriceChange} product */
function priceLines(product) {
  return optionsOf(product).map(({ option, from, to }) => ({ product, option, ...told(from, to) }));
}

/**
 * The options that changed, or the product itself where none did.
 * @template T
 * @param {{ from: T, to: T, options: { label: string, nth: number, from: T, to: T }[] }} product
 */
const optionsOf = ({ from, to, options }) =>
  options.length > 0
    ? options.map((option) => ({ option: labelOf(option), from: option.from, to: option.to }))
    : [{ option: "", from, to }];

/**
 * The price that is paid; if only the medical or the regular price changed, that price and its name.
 * @param {PricesOf} from
 * @param {PricesOf} to
 */
function told(from, to) {
  const [before, after] = [paidOf(from), paidOf(to)];
  const isSale = from.specialPriceRec === null && to.specialPriceRec !== null;
  const isOver = from.specialPriceRec !== null && to.specialPriceRec === null;
  if (before !== after) return { from: before, to: after, word: isSale ? "special" : isOver ? "special ended" : "" };
  if (from.priceRec !== to.priceRec) return { from: from.priceRec ?? null, to: to.priceRec ?? null, word: "regular" };
  if (from.specialPriceMed !== to.specialPriceMed) {
    return { from: from.specialPriceMed ?? null, to: to.specialPriceMed ?? null, word: "medical special" };
  }
  return { from: from.priceMed ?? null, to: to.priceMed ?? null, word: "medical" };
}

/** @param {PricesOf} of */
const paidOf = (of) => of.specialPriceRec ?? of.priceRec ?? of.specialPriceMed ?? of.priceMed ?? null;

/** A bar from the middle: to the left for less, to the right for more. @param {{ from: number | null, to: number | null }} properties */
function Bar({ from, to }) {
  if (!from || to === null) return null;
  const middle = BAR_WIDTH / 2;
  const width = Math.min(middle, (middle * Math.abs(to - from) * 100) / from / FULL_PERCENT);
  return html`<svg class="spark" viewBox=${`0 0 ${BAR_WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
    <rect x=${middle - 0.4} y="0" width=".8" height="10" />
    <rect class="ok" x=${to < from ? middle - width : middle} y="2" width=${width} height="6" /></svg>`;
}

/** @param {{ rows: StockChange[] } & Shared} properties */
export function Stock({ rows, ...shared }) {
  const lines = largestFirst(rows.flatMap((product) => stockLines(product)), ({ from, to }) => changeOf(amountOf(from), amountOf(to)));
  return html`<${List} id="stock" title="Stock" lines=${lines} what="levels" order="the largest change first" none="No stock changed." ...${shared}>
    ${(/** @type {StockLine[]} */ shown) => html`<table class="table fold">
      <thead class="sr"><tr><th scope="col">Product</th><th scope="col">Stock</th></tr></thead>
      <tbody>${shown.map(({ product, option, from, to }, at) => html`<tr key=${at} data-row>
        <th scope="row" class="key">
          <span class="dim"><${Icon} name=${isLess(from, to) ? "down" : "up"} /></span> <${Name} of=${product}
            store=${shared.store} /> <bdi class="soft">${option}</bdi></th>
        <td class="num end soft">${level(from)} → ${level(to)}
          ${to.isInStock !== from.isInStock && (to.isInStock ? ", back" : ", sold out")}</td>
      </tr>`)}</tbody>
    </table>`}</${List}>`;
}

/** @param {StockChange} product */
const stockLines = (product) => optionsOf(product).map((each) => ({ product, ...each }));

/** @param {StockLevel} from @param {StockLevel} to */
function isLess(from, to) {
  if (from.isInStock !== to.isInStock) return from.isInStock;
  return (to.quantity ?? Infinity) < (from.quantity ?? Infinity);
}

/** @param {StockLevel} of */
function level(of) {
  if (of.quantity === null || of.quantity === undefined) return of.isInStock ? "in stock" : "none";
  return `${count(of.quantity)}${of.quantityCensored ? "+" : ""}`;
}

/** @param {{ kind: "added" | "removed", rows: Offer[] } & Shared} properties */
export function Products({ kind, rows, ...shared }) {
  const isAdded = kind === "added";
  const title = isAdded ? "Added" : "Removed";
  return html`<${List} id=${kind} title=${title} lines=${rows} what="products" none=${`No product was ${kind}.`} ...${shared}>
    ${(/** @type {Offer[]} */ shown) => html`<table class="table fold">
      <thead class="sr"><tr><th scope="col">Product</th><th scope="col">Offer</th></tr></thead>
      <tbody>${shown.map((product) => html`<tr key=${product.id} data-row>
        <th scope="row" class="key">
          <span class=${isAdded ? "good" : "bad"}><${Icon} name=${isAdded ? "plus" : "minus"} />
            <span class="sr">${title}: </span></span> <${Name} of=${product} store=${shared.store} /></th>
        <td class="num end soft">${offer(product)}</td>
      </tr>`)}</tbody>
    </table>`}</${List}>`;
}

/** The price of its first option, and the number of further ones. @param {Offer} product */
function offer(product) {
  const [first, ...others] = product.options;
  if (!first) return money(paidOf(product));
  return html`<bdi>${labelOf(first)}</bdi> ${money(paidOf(first))}${others.length > 0 && `, ${count(others.length)} more`}`;
}

/** @param {{ rows: OptionsChange[] } & Shared} properties */
export function Options({ rows, ...shared }) {
  return html`<${List} id="options" title="Options" lines=${rows} what="products"
      none="No product gained or lost an option." ...${shared}>
    ${(/** @type {OptionsChange[]} */ shown) => html`<table class="table fold">
      <thead class="sr"><tr><th scope="col">Product</th><th scope="col">Options</th></tr></thead>
      <tbody>${shown.map((product) => html`<tr key=${product.id} data-row>
        <th scope="row" class="key"><${Name} of=${product} store=${shared.store} /></th>
        <td class="num end soft">
          ${product.added.map((option) =>
            html`<span class="good"><${Icon} name="plus" /></span>
              <span class="sr">gained</span> <bdi>${labelOf(option)}</bdi> ${money(paidOf(option))}<br />`)}
          ${product.removed.map((option) =>
            html`<span class="bad"><${Icon} name="minus" /></span>
              <span class="sr">lost</span> <bdi>${labelOf(option)}</bdi> ${money(paidOf(option))}<br />`)}</td>
      </tr>`)}</tbody>
    </table>`}</${List}>`;
}

/**
 * A panel with the first of some lines.
 * @template T
 * @param {object} properties
 * @param {keyof typeof SHOWN} properties.id
 * @param {string} properties.title
 * @param {T[]} properties.lines
 * @param {string} properties.what
 * @param {string} properties.none
 * @param {string} [properties.order]
 * @param {URLSearchParams} properties.query
 * @param {(shown: T[]) => Children} properties.children
 */
function List({ id, title, lines, what, none, order = "in menu order", children, query }) {
  const isLong = query.get("all") === id;
  const shown = isLong ? lines : lines.slice(0, SHOWN[id]);
  const to = link(currentPath(), { ...Object.fromEntries(query), all: isLong ? null : id });
  const more = lines.length > SHOWN[id] &&
    html`<a class="more" href=${to} aria-label=${isLong ? `Fewer: ${title}` : `All ${lines.length}: ${title}`}>
      ${isLong ? "Fewer" : `All ${count(lines.length)}`}</a>`;
  return html`<${Panel} title=${title} id=${id}
    scope=${lines.length > 0 && `${count(shown.length)} of ${count(lines.length)} ${what}, ${order}`} more=${more}>
    ${lines.length === 0 ? html`<p class="panel-body dim">${none}</p>` : children(shown)}
  </${Panel}>`;
}

/**
 * The diff knows the platform's ids: the list of the store finds a product by its name.
 * @param {{ of: { name: string, brand?: string | null }, store: number | null }} properties
 */
const Name = ({ of, store }) => html`<a href=${link(`/admin/stores/${store}`, { q: of.name })} title=${of.name}><bdi>${of.name}</bdi></a>`;

/** @param {{ label: string, nth: number }} option */
const labelOf = (option) => `${sizeName(option.label)}${option.nth > 0 ? ` (${option.nth + 1})` : ""}`;
/** @param {number | null} cents */
const dollars = (cents) => (cents === null ? "–" : money(cents).replace("$ ", ""));
