// @ts-check
// The measures of a product's price: of a package, by gram, by millilitre and by milligram of THC. All pure.

import { decimal, money } from "../../core/format.js";
import { MILLICENTS, paid } from "../../parts/products.js";
import { MILLICENTS_PER_DOLLAR } from "./series.js";

/** @import { Point, Series } from "./series.js" */

/**
 * @typedef {object} Measure
 * @property {string} name in the address
 * @property {string} word of the choice
 * @property {string} unit of the axis
 * @property {(point: Point) => number | null} of in the unit
 * @property {(value: number | null) => string} text
 */

/** @param {number | null} value */
const dollarText = (value) => money(value === null ? null : value * 100);
/** @param {number | null} value */
const centText = (value) => (value === null ? money(null) : `${decimal(value)} ¢`);
/** @param {number | null} millicents @param {number} unit */
const scaled = (millicents, unit) => (millicents === null ? null : millicents / unit);

/** @type {Measure[]} */
const MEASURES = [
  { name: "", word: "a package", unit: "US dollars", of: (point) => scaled(paid(point), 100), text: dollarText },
  { name: "g", word: "a gram", unit: "US dollars a gram", of: ({ by_g: price }) => scaled(price, MILLICENTS_PER_DOLLAR), text: dollarText },
  { name: "ml", word: "a millilitre", unit: "US dollars a millilitre", of: ({ by_ml: price }) => scaled(price, MILLICENTS_PER_DOLLAR), text: dollarText },
  { name: "thc", word: "a milligram of THC", unit: "US cents a milligram of THC", of: ({ by_mg_thc: price }) => scaled(price, MILLICENTS), text: centText },
];

/** The measures that the points have. @param {Series[]} series */
export const measuresOf = (series) =>
  MEASURES.filter(({ name, of }) => name === "" || series.some(({ points }) => points.some((point) => !point.gone && of(point) !== null)));

/** The measure that the address asks for, if the points have it. @param {Series[]} series @param {URLSearchParams} query */
export const measureOf = (series, query) => measuresOf(series).find(({ name }) => name === query.get("unit")) ?? MEASURES[0];
