// @ts-check
// Lists of products: the filters of both lists, their rows, and the format of prices and stock.

import { link } from "../core/base.js";
import { count, decimal, money, plural, sentence } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { StoredImage } from "./image.js";
import { useSteadyRows, Waiting } from "./rows.js";
import { SortHead } from "./sort.js";
import { Ago } from "./time.js";

/** @import { ProductView } from "../types/api" */
/** @import { Qualifier } from "./query-box.js" */

/** @type {Record<string, string>} */
const STATUS_WORDS = { oos: "sold out", unknown: "not known" };
/** Pixels. */
const THUMB = 32;
/** Half a cent is not a price. */
const MAX_DOLLARS = 20_000_000;
/** In a cent. */
export const MILLICENTS = 1000;

/** @param {string} text @returns {string | null} */
export function readYes(text) {
  if (["yes", "true"].includes(text)) return "true";
  return ["no", "false"].includes(text) ? "false" : null;
}

/** @param {string} value */
export const writeYes = (value) => (value === "true" ? "yes" : "no");

/** Dollars as cents. @param {string} text */
export function readDollars(text) {
  const dollars = /^\$?\d+(\.\d{1,2})?$/.test(text) ? Number(text.replace("$", "")) : Number.NaN;
  return dollars <= MAX_DOLLARS ? String(Math.round(dollars * 100)) : null;
}

/** Dollars as millicents. @param {string} text */
const readUnitPrice = (text) => {
  const cents = readDollars(text);
  return cents === null ? null : String(Number(cents) * MILLICENTS);
};

/** Only for lists of all stores. @type {Qualifier} */
export const MAX_PER_GRAM = {
  word: "max_per_gram",
  parameter: "max_unit_price",
  help: "dollars a gram, such as 7.50",
  read: readUnitPrice,
  write: (millicents) => writeDollars(String(Number(millicents) / MILLICENTS)),
};

/** @param {string} cents */
export const writeDollars = (cents) => (Number(cents) / 100).toFixed(2).replace(".00", "");

/** @type {Qualifier[]} */
export const PRODUCT_QUALIFIERS = [
  { word: "words", parameter: "q", help: "of the name or brand" },
  {
    word: "category",
    parameter: "category",
    values: ["flower", "pre_roll", "vaporizer", "edible", "drink", "concentrate", "tincture", "capsule", "topical", "accessory"],
    help: "of every platform, or as the menu names it",
    isOpen: true,
  },
  { word: "brand", parameter: "brand", help: 'a name; with spaces in quotes, "like this"' },
  { word: "in_stock", parameter: "in_stock", values: ["yes", "no"], help: "yes or no", read: readYes, write: writeYes },
  { word: "on_special", parameter: "on_special", values: ["yes", "no"], help: "yes or no", read: readYes, write: writeYes },
  { word: "min_price", parameter: "min_price", help: "dollars, such as 12.50", read: readDollars, write: writeDollars },
  { word: "max_price", parameter: "max_price", help: "dollars, such as 12.50", read: readDollars, write: writeDollars },
];

/**
 * @param {object} properties
 * @param {ProductView[]} properties.products
 * @param {string} properties.scope another one's rows are shown at once
 * @param {string} properties.caption
 * @param {boolean} [properties.stores] whether each row names its store
 * @param {URLSearchParams} properties.query
 * @param {string} properties.byName the order by name; empty: the usual one
 */
export function ProductTable({ products, scope, caption, stores = false, query, byName }) {
  const steady = useSteadyRows(products, (product) => product.id, scope);
  return html`<table class="table fold" ...${steady.hold}>
      <caption class="sr">${caption}</caption>
      <thead><tr><${SortHead} query=${query} word="Product" orders=${[byName]} initial="" kind="w-third" />
        ${stores && html`<th scope="col" class="w-quarter">Store</th>`}<th scope="col">Category</th>
        <${SortHead} query=${query} word="Price" orders=${["price", "price_desc"]} initial="" kind="num" /><th scope="col" class="num">Stock</th><th scope="col" class="num">Seen</th></tr></thead>
      <tbody>${steady.rows.map((product) => html`<${Row} key=${product.id} of=${product} stores=${stores} />`)}</tbody>
    </table><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />`;
}

const Row = memo((/** @type {{ of: ProductView, stores: boolean }} */ { of: product, stores }) => {
  return html`<tr data-row>
    <th scope="row" class="key cut"><${StoredImage} path=${product.local_image_path} size=${THUMB} />
      <a href=${link(`/admin/products/${product.id}`)} title=${product.name}><bdi>${product.name}</bdi></a>
      ${product.brand?.trim() && html`<br /><span class="scope"><bdi>${product.brand}</bdi></span>`}</th>
    ${stores && html`<td class="line first cut">
      <a href=${link(`/admin/stores/${product.dispensary_id}`)} title=${product.dispensary_name}>
        <bdi>${product.dispensary_name}</bdi></a></td>`}
    <td class="fact">${product.category}</td>
    <td class="num end"><${Price} of=${product} /></td>
    <td class="num fact" data-l="stock">${stockText(product)}</td>
    <td class="num fact" data-l="seen"><${Ago} at=${product.last_seen_at} after="ago" /></td>
  </tr>`;
});

/** @typedef {"price_rec" | "price_med" | "special_price_rec" | "special_price_med"} PriceName */
/** @typedef {Partial<Record<PriceName, number | null>>} Prices */
/** @typedef {{ quantity?: number | null, quantity_censored: boolean, is_in_stock: boolean, stock_status?: string }} Stock */

/** The price that is paid, in cents: the recreational one if there is one. @param {Prices} of */
export const paid = (of) => of.special_price_rec ?? of.price_rec ?? of.special_price_med ?? of.price_med ?? null;

/** The price without a special. @param {Prices} of */
export const regular = (of) => of.price_rec ?? of.price_med ?? null;

/** @param {Prices} of */
export function isOnSale(of) {
  const [now, before] = [paid(of), regular(of)];
  return now !== null && before !== null && now < before;
}

/** The price for patients beside a recreational one that differs. @param {Prices} of */
export function medicalText(of) {
  const [recreational, medical] = [of.special_price_rec ?? of.price_rec ?? null, of.special_price_med ?? of.price_med ?? null];
  return recreational !== null && medical !== null && medical !== recreational ? `medical ${money(medical)}` : "";
}

/** @typedef {Partial<Record<"rec_per_g" | "med_per_g" | "rec_per_ml" | "med_per_ml" | "rec_per_mg_thc" | "med_per_mg_thc", number | null>>} UnitPrices */

/** The price by weight or volume, of dosed goods by THC: as they are compared. @param {UnitPrices & { unit_basis?: string | null }} of */
export function unitPriceText(of) {
  const [gram, millilitre, thc] = [of.rec_per_g ?? of.med_per_g, of.rec_per_ml ?? of.med_per_ml, of.rec_per_mg_thc ?? of.med_per_mg_thc];
  const isDosed = of.unit_basis === "stated_thc" && typeof thc === "number";
  if (typeof gram === "number" && !isDosed) return `${money(gram / MILLICENTS)} a gram`;
  if (typeof millilitre === "number" && !isDosed) return `${money(millilitre / MILLICENTS)} a millilitre`;
  return typeof thc === "number" ? `${decimal(thc / MILLICENTS)} ¢ a mg of THC` : "";
}

/** @typedef {Partial<Record<"bundle_quantity" | "bundle_total" | "bundle_per_g", number | null>>} Bundle */

/** `2 for $ 50.00: $ 7.14 a gram`: the cheapest bundle, which changes no price. @param {Bundle} of */
export function bundleText({ bundle_quantity: quantity, bundle_total: total, bundle_per_g: gram }) {
  if (typeof quantity !== "number" || typeof total !== "number") return "";
  return `${count(quantity)} for ${money(total)}${typeof gram === "number" ? `: ${money(gram / MILLICENTS)} a gram` : ""}`;
}

/** @param {{ of: ProductView }} properties */
function Price({ of }) {
  const notes = [isOnSale(of) && `special, from ${money(regular(of))}`, medicalText(of), unitPriceText(of)].filter(Boolean);
  return html`${money(paid(of))}${notes.map((note) => html`<br /><span class="scope">${note}</span>`)}`;
}

/** `12`, `25+`: the platform gives no number above its cap. @param {Stock} of */
export const quantityText = (of) => ((of.quantity ?? null) === null ? "" : `${count(of.quantity)}${of.quantity_censored ? "+" : ""}`);

/** @param {Stock} of */
export function stockText(of) {
  if (of.is_in_stock) return quantityText(of) || "in stock";
  return STATUS_WORDS[of.stock_status ?? "oos"] ?? sentence(of.stock_status ?? "").toLowerCase();
}

/** @param {number} number of products */
export const products = (number) => plural(number, "product");
