// @ts-check
// The units by which prices are compared, and their texts. All pure.

import { decimal, money, NONE } from "../../core/format.js";
import { MILLICENTS } from "../../parts/products.js";

/** @import { PriceUnit } from "../../types/api" */

/** @typedef {number | null | undefined} Millicents */

/**
 * @typedef {object} Unit
 * @property {PriceUnit} name
 * @property {string} word
 * @property {string} axis
 * @property {number} scale millicents of one unit of the axis
 * @property {(millicents: Millicents) => string} text
 */

/** @param {Millicents} millicents */
const dollars = (millicents) => money(typeof millicents === "number" ? millicents / MILLICENTS : null);
/** @param {Millicents} millicents */
const cents = (millicents) => (typeof millicents === "number" ? `${decimal(millicents / MILLICENTS)} ¢` : NONE);

/** @type {Unit[]} */
export const UNITS = [
  { name: "g", word: "a gram", axis: "US dollars a gram", scale: 100 * MILLICENTS, text: dollars },
  { name: "ml", word: "a millilitre", axis: "US dollars a millilitre", scale: 100 * MILLICENTS, text: dollars },
  { name: "mg_thc", word: "a mg of THC", axis: "US cents a mg of THC", scale: MILLICENTS, text: cents },
];

/** The unit that the address asks for. @param {URLSearchParams} query */
export const unitOf = (query) => UNITS.find(({ name }) => name === query.get("unit")) ?? UNITS[0];

/** A unit by its name; none of a newer program. @param {string | null | undefined} name */
export const unitNamed = (name) => UNITS.find((unit) => unit.name === name);
