// @ts-check
// A product's history for charts and tables: steps, periods of a special or without stock, gaps, changes, and
// the CSV. All pure.

import { sizeName } from "../../core/format.js";
import { isOnSale, MILLICENTS, paid } from "../../parts/products.js";

/** @import { OptionPoint, ProductHistory, ProductPoint } from "../../types/api" */
/** @import { Prices } from "../../parts/products.js" */
/** @typedef {{ from: number, to: number }} Period milliseconds */
/** @typedef {{ from: number, to: number, gaps: Period[] }} Span time of a chart */
/** @typedef {{ quantity: number | null, quantity_censored: boolean, is_in_stock: boolean }} Stock */
/** Prices by amount in millicents. @typedef {{ by_g: number | null, by_ml: number | null, by_mg_thc: number | null }} UnitPrices */
/** @typedef {Required<Prices> & UnitPrices & Stock & { time: number, crawled_at: string, gone: boolean }} Point */
/** @typedef {{ key: string, name: string, label: string, nth: number, points: Point[], truncated: boolean }} Series */

/** Crawls are not on the second: a gap is this many times the usual distance. */
const GAP_TIMES = 3;
/** Crawls by hand lie minutes apart, and would make a gap of each interval of the schedule. */
const SHORTEST_GAP_MS = 6 * 3_600_000;

/** The name of an option; labels repeat. @param {{ option_label: string, nth: number }} of */
export const optionName = (of) => `${sizeName(of.option_label)}${of.nth > 0 ? ` (${of.nth + 1})` : ""}`;

/**
 * The series of one answer: of the requested option, or of the product itself without options.
 * @param {ProductHistory} history
 * @returns {Series}
 */
export function seriesOf(history) {
  const option = history.option ?? null;
  const identity = { option_label: option?.option_label ?? "Product", nth: option?.nth ?? 0 };
  return {
    key: `${identity.option_label} ${identity.nth}`,
    name: optionName(identity),
    label: identity.option_label,
    nth: identity.nth,
    points: (option?.points ?? history.points).map(pointOf),
    truncated: history.truncated || (option?.truncated ?? false),
  };
}

/** The price of an option may be left out. @param {OptionPoint | ProductPoint} of @returns {Point} */
function pointOf(of) {
  return {
    time: Date.parse(of.crawled_at),
    crawled_at: of.crawled_at,
    price_rec: of.price_rec ?? null,
    special_price_rec: of.special_price_rec ?? null,
    price_med: of.price_med ?? null,
    special_price_med: of.special_price_med ?? null,
    ...unitPricesOf("gone" in of ? of : {}),
    quantity: of.quantity ?? null,
    quantity_censored: of.quantity_censored,
    is_in_stock: of.is_in_stock,
    gone: "gone" in of && of.gone,
  };
}

/** Unit prices of what is paid: the recreational ones if there are any. @param {Partial<OptionPoint>} of @returns {UnitPrices} */
const unitPricesOf = (of) => ({
  by_g: of.rec_per_g ?? of.med_per_g ?? null,
  by_ml: of.rec_per_ml ?? of.med_per_ml ?? null,
  by_mg_thc: of.rec_per_mg_thc ?? of.med_per_mg_thc ?? null,
});

/**
 * Periods that no crawl saw. Null: the answer leaves some crawls out, so they are unknown.
 * @param {ProductHistory} history
 * @param {number} from
 * @param {number} to
 * @returns {Period[] | null}
 */
export function gapsOf(history, from, to) {
  if (history.truncated || history.points.length < history.rows) return null;
  const times = history.points.map(({ crawled_at }) => Date.parse(crawled_at)).filter((time) => time >= from && time <= to);
  if (times.length < 3) return [];
  const distances = times.slice(1).map((time, at) => time - times[at]);
  const median = [...distances].sort((a, b) => a - b)[Math.floor(distances.length / 2)];
  const longest = Math.max(SHORTEST_GAP_MS, median * GAP_TIMES);
  const edges = [from, ...times, to];
  return edges.slice(1).map((time, at) => ({ from: edges[at], to: time })).filter((each) => each.to - each.from > longest);
}

/**
 * The values that `Steps` draws: after each point; null in gaps and without a value.
 * @param {Series} series
 * @param {Span} span
 * @param {(point: Point) => number | null} valueOf
 */
export function stepsOf(series, span, valueOf) {
  const at = (/** @type {number} */ time) => Math.min(1, Math.max(0, (time - span.from) / (span.to - span.from)));
  const valueAt = (/** @type {number} */ time) => {
    const point = lastBefore(series.points, time);
    return point && !point.gone ? valueOf(point) : null;
  };
  const isInside = (/** @type {number} */ time) => span.gaps.some((gap) => time > gap.from && time < gap.to);
  const times = series.points.map(({ time }) => time).filter((time) => time > span.from && time < span.to && !isInside(time));
  const breaks = span.gaps.map((gap) => ({ at: at(gap.from), value: null }));
  const after = span.gaps.filter((gap) => gap.to < span.to).map((gap) => gap.to);
  const steps = [span.from, ...times, ...after].map((time) => ({ at: at(time), value: valueAt(time) }));
  // where a gap begins, the line ends: the break follows the value of the same time
  return [...steps, ...breaks].sort((a, b) => a.at - b.at || Number(a.value === null) - Number(b.value === null));
}

/** @param {Point[]} points oldest first @param {number} time */
function lastBefore(points, time) {
  let found = null;
  for (const point of points) {
    if (point.time > time) break;
    found = point;
  }
  return found;
}

/**
 * The periods in which `is` is true, cut to the span.
 * @param {Series} series
 * @param {Period} span
 * @param {(point: Point) => boolean} is
 * @returns {Period[]}
 */
export function periodsOf(series, span, is) {
  const periods = series.points.map((point, at) => ({ point, from: point.time, to: series.points[at + 1]?.time ?? span.to }));
  const held = periods.filter(({ point, from, to }) => !point.gone && is(point) && to > span.from && from < span.to);
  return joined(held.map(({ from, to }) => ({ from: Math.max(from, span.from), to: Math.min(to, span.to) })));
}

/** Merges periods that meet or overlap. @param {Period[]} periods @returns {Period[]} */
export function joined(periods) {
  /** @type {Period[]} */
  const all = [];
  for (const { from, to } of [...periods].sort((a, b) => a.from - b.from)) {
    const last = all[all.length - 1];
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}

/** The points visible in a span: all within it, and the one that is valid at its beginning. @param {Series} series @param {Period} span */
export function shownPoints(series, span) {
  const first = lastBefore(series.points, span.from);
  return series.points.filter((point) => point === first || (point.time > span.from && point.time <= span.to));
}

/** @typedef {{ key: string, time: number, option: string, what: string, from: Point, to: Point, isStock: boolean }} Change */

/** Changes within the span, newest first. @param {Series[]} all @param {Period} span @returns {Change[]} */
export function changesOf(all, span) {
  return all.flatMap((series) => changesOfOne(series, span)).sort((a, b) => b.time - a.time);
}

/** @param {Series} series @param {Period} span @returns {Change[]} */
function changesOfOne(series, span) {
  return series.points.slice(1).flatMap((to, at) => {
    const from = series.points[at];
    if (to.time < span.from) return [];
    return wordsOf(from, to).map(({ what, isStock }) => ({
      key: `${series.key} ${to.time} ${what}`,
      time: to.time,
      option: series.name,
      what,
      from,
      to,
      isStock,
    }));
  });
}

/** @param {Point} from @param {Point} to */
function wordsOf(from, to) {
  if (from.gone !== to.gone) return [{ what: to.gone ? "left the menu" : "back on the menu", isStock: true }];
  if (to.gone) return [];
  const words = [];
  if (paid(from) !== paid(to)) words.push({ what: priceWord(from, to), isStock: false });
  if (from.quantity !== to.quantity || from.is_in_stock !== to.is_in_stock || from.quantity_censored !== to.quantity_censored) {
    words.push({ what: "stock", isStock: true });
  }
  return words;
}

/** @param {Point} from @param {Point} to */
function priceWord(from, to) {
  if (isOnSale(to) && !isOnSale(from)) return "special";
  return isOnSale(from) && !isOnSale(to) ? "special ended" : "price";
}

const COLUMNS = /** @type {const} */ (["price_rec", "special_price_rec", "price_med", "special_price_med"]);
const UNIT_COLUMNS = /** @type {const} */ (["by_g", "by_ml", "by_mg_thc"]);
/** The units of a dollar in which the API gives prices by amount. */
export const MILLICENTS_PER_DOLLAR = 100 * MILLICENTS;

/** Prices in dollars, those by amount with five decimals; one row per point. @param {Series[]} all */
export function csvOf(all) {
  const head = ["time", "option", "nth", ...COLUMNS, "price_per_g", "price_per_ml", "price_per_mg_thc", "quantity", "or_more", "in_stock", "on_menu"];
  const rows = all.flatMap((series) =>
    series.points.map((point) => [
      point.crawled_at,
      series.label,
      series.nth,
      ...COLUMNS.map((name) => dollars(point[name] ?? null)),
      ...UNIT_COLUMNS.map((name) => (point[name] === null ? "" : (Number(point[name]) / MILLICENTS_PER_DOLLAR).toFixed(5))),
      point.quantity ?? "",
      point.quantity_censored,
      point.is_in_stock,
      !point.gone,
    ]),
  );
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** @param {number | null} cents */
const dollars = (cents) => (cents === null ? "" : (cents / 100).toFixed(2));

/** Labels come from upstream: a spreadsheet must not read one as a formula. @param {unknown} value */
function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
