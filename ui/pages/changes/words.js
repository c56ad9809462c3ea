// @ts-check
// Words and values of changes of prices and stock.

import { money } from "../../core/format.js";
import { quantityText } from "../../parts/products.js";

/** @import { ChangeKind, ChangeSide, ChangeView } from "../../types/api" */

/** Word and icon. @type {Record<ChangeKind, [string, string]>} */
export const KINDS = {
  price_drop: ["Price down", "down"],
  price_rise: ["Price up", "up"],
  special_start: ["Special", "plus"],
  special_end: ["Special ended", "minus"],
  sold_out: ["Sold out", "off"],
  restocked: ["Restocked", "retrying"],
  low_stock: ["Low stock", "warn"],
  new: ["New", "plus"],
  gone: ["Gone", "minus"],
  returned: ["Back", "retrying"],
};
export const KIND_NAMES = /** @type {ChangeKind[]} */ (Object.keys(KINDS));

/** Kinds that people look at together. @type {[string, ChangeKind[]][]} */
export const TABS = [
  ["All", []],
  ["Prices", ["price_drop", "price_rise"]],
  ["Specials", ["special_start", "special_end"]],
  ["Stock", ["sold_out", "restocked", "low_stock"]],
  ["Products", ["new", "gone", "returned"]],
];

/** A kind of a newer program has its own name. @param {string} kind */
export const kindText = (kind) => KINDS[/** @type {ChangeKind} */ (kind)]?.[0] ?? kind;

/** The prices of a change of a price or a special, in cents, and whose they are; null: it is of neither. @param {ChangeView} change */
export function pricesOf({ kind, old, new: now, cents }) {
  if (kind === "price_drop" || kind === "price_rise") {
    const [before, after] = [old?.rec ?? null, now?.rec ?? null];
    const isRec = before !== null && after !== null && after - before === cents;
    return isRec ? { from: before, to: after, word: "" } : { from: old?.med ?? null, to: now?.med ?? null, word: "medical" };
  }
  if (kind === "special_start") return { from: regular(now), to: special(now), word: wordOf(now) };
  if (kind === "special_end") return { from: special(old), to: regular(now ?? old), word: wordOf(old) };
  return null;
}

/** @typedef {ChangeSide | null | undefined} Side */
/** @param {Side} of */
const special = (of) => of?.special_rec ?? of?.special_med ?? null;
/** @param {Side} of */
const regular = (of) => of?.rec ?? of?.med ?? null;
/** @param {Side} of */
const wordOf = (of) => ((of?.special_rec ?? null) === null ? "medical" : "");

/** The values before and after, in words; empty where a change has none. @param {ChangeView} change @returns {[string, string]} */
export function valuesOf(change) {
  const prices = pricesOf(change);
  if (prices) return [money(prices.from), money(prices.to)];
  const [before, after] = [quantityOf(change.old), quantityOf(change.new)];
  if (change.kind === "sold_out") return [before || "in stock", "sold out"];
  if (change.kind === "restocked") return ["sold out", after || "in stock"];
  return change.kind === "low_stock" ? [before || "in stock", after ? `${after} left` : "few left"] : ["", ""];
}

/** @param {Side} of */
const quantityOf = (of) =>
  quantityText({ quantity: of?.quantity ?? null, quantity_censored: of?.quantity_censored ?? false, is_in_stock: true });
