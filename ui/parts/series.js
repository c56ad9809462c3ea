// @ts-check
// Counts by minute for charts, for a period that ends now.

import { pathOf } from "../core/api.js";
import { now } from "../core/clock.js";
import { decimal, shortTime } from "../core/format.js";
import { useEffect, useRef, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { listen } from "../core/stream.js";

/** @import { Dimension, Metric, Series, StatsSeries } from "../types/api" */

const MINUTE_MS = 60_000;

/**
 * `GET /api/stats/series` for the last `minutes`; the answer of the minute before while a newer one is read.
 * @param {object} asked
 * @param {Metric} asked.metric
 * @param {Dimension} asked.by
 * @param {number} [asked.minutes]
 * @param {string} [asked.step] of a point, as `1m`, `1h`, `1d`
 * @param {number} [asked.series] maximum number of separate series; the rest is `other`
 */
export function useSeries({ metric, by, minutes = 60, step = "1m", series }) {
  const end = useMinute();
  const from = new Date(end - minutes * MINUTE_MS).toISOString();
  const to = new Date(end).toISOString();
  const answer = useResource(pathOf("/api/stats/series", { metric, by, from, to, step, series }), { gap: MINUTE_MS });
  const asked = [metric, by, minutes, step, series].join(" ");
  const last = useRef({ asked, data: /** @type {StatsSeries | null} */ (null) });
  if (last.current.asked !== asked) last.current = { asked, data: null };
  if (answer.data) last.current.data = answer.data;
  const { data } = last.current;
  return { ...answer, data, loading: answer.loading && data === null };
}

/** The end of the last whole minute; changes once a minute was counted. */
function useMinute() {
  const [minute, become] = useState(wholeMinute);
  useEffect(() => {
    const again = () => become(wholeMinute());
    const ends = [listen("rollups", again), listen("again", again)];
    return () => ends.forEach((end) => end());
  }, []);
  return minute;
}

const wholeMinute = () => Math.floor(now() / MINUTE_MS) * MINUTE_MS;

/**
 * The sum of all series, point by point.
 * @param {StatsSeries | null} data
 * @returns {number[]}
 */
export function sumOf(data) {
  if (!data) return [];
  const all = allOf(data);
  const length = Math.max(0, ...all.map(({ points }) => points.length), pointsOf(data));
  return Array.from({ length }, (_, at) => all.reduce((sum, { points }) => sum + (points[at] ?? 0), 0));
}

/** A chart shows at least ten minutes, and at least this share of the requested time. */
const MIN_SHOWN_MS = 10 * MINUTE_MS;
const MIN_SHOWN_SHARE = 1 / 6;

/**
 * The same series without the time before the first count of any of them: a new installation has no empty hours
 * to show.
 * @template {(StatsSeries | null)[]} T
 * @param {T} all
 * @returns {T}
 */
export function sinceFirst(all) {
  const begin = Math.min(...all.map((data) => (data ? firstCount(data) : Infinity)));
  return /** @type {T} */ (all.map((data) => data && cutTo(data, begin)));
}

/** The time of the first point with a count; infinite without one. @param {StatsSeries} data */
function firstCount(data) {
  const first = Math.min(...allOf(data).map(({ points }) => points.findIndex(Boolean)).filter((at) => at >= 0));
  return Date.parse(data.from) + first * 1000 * data.step_seconds;
}

/** @param {StatsSeries} data @param {number} begin @returns {StatsSeries} */
function cutTo(data, begin) {
  const [from, to, step] = [Date.parse(data.from), Date.parse(data.to), 1000 * data.step_seconds];
  const latest = to - Math.max(MIN_SHOWN_MS, (to - from) * MIN_SHOWN_SHARE);
  const left = begin === Infinity ? 0 : Math.floor((Math.min(begin, latest) - from) / step);
  if (left <= 0) return data;
  const cut = (/** @type {Series} */ series) =>
    ({ ...series, points: series.points.slice(left), percentiles: cutPercentiles(series, left) });
  const rest = data.other && { ...data.other, points: data.other.points.slice(left) };
  return { ...data, from: new Date(from + left * step).toISOString(), series: data.series.map(cut), other: rest };
}

/** @param {Series} series @param {number} left @returns {Series["percentiles"]} */
function cutPercentiles({ percentiles }, left) {
  if (!percentiles) return percentiles;
  const cut = (/** @type {typeof percentiles.p50} */ part) => ({ ...part, points: part.points.slice(left) });
  return { ...percentiles, p50: cut(percentiles.p50), p95: cut(percentiles.p95), p99: cut(percentiles.p99) };
}

/** Every series, and the rest as one. @param {StatsSeries} data */
export const allOf = (data) => [...data.series, ...(data.other ? [data.other] : [])];

/**
 * The points of one series; zeros where it did not occur.
 * @param {StatsSeries | null} data
 * @param {string} key
 * @returns {number[]}
 */
export function pointsOfKey(data, key) {
  const found = data?.series.find((each) => each.key === key);
  return found?.points ?? Array.from({ length: data ? pointsOf(data) : 0 }, () => 0);
}

/** @param {StatsSeries} data */
const pointsOf = (data) => Math.round((Date.parse(data.to) - Date.parse(data.from)) / 1000 / data.step_seconds);

/** The words of one value of a line. @param {StatsSeries | null} data @param {string} unit @returns {(value: number, at: number) => string} */
export const valueText = (data, unit) => (value, at) =>
  `${data ? shortTime(Date.parse(data.from) + at * 1000 * data.step_seconds) : ""} UTC: ${decimal(value)} ${unit}`;

/** @param {number[]} values */
export const total = (values) => values.reduce((sum, value) => sum + value, 0);
