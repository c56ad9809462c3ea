// @ts-check
// Requests of proxies refused in the last hour, and the bytes of the last days, which determine their cost.

import { bytes, clockTime, day, decimal } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Bars, Chart, Key, Line, ticksTo, timeAxis } from "../../parts/chart.js";
import { sinceFirst, sumOf, total, useSeries, valueText } from "../../parts/series.js";

/** @import { ProxyHealth } from "../../parts/proxy-health.js" */
/** @import { StatsSeries } from "../../types/api" */

const DAYS = 14;
const MINUTES_A_DAY = 24 * 60;
const KINDS = ["c2", "c1"];

/**
 * The two most refused proxies, and the mean of the others.
 * @param {{ fleet: ProxyHealth[], series: StatsSeries | null }} properties
 */
export function RefusedByProxy({ fleet, series }) {
  const [shown] = sinceFirst([series]);
  const left = minutesOf(series) - minutesOf(shown);
  const worst = [...fleet].filter(({ refused }) => refused > 0).sort((a, b) =>
    b.refused / b.asked - a.refused / a.asked).slice(0, KINDS.length);
  const others = fleet.filter((each) => !worst.includes(each));
  const lines = worst.map((each, at) => ({ kind: KINDS[at], name: `${each.proxy.host}:${each.proxy.port}`, shares: shares([each], left) }));
  if (others.length > 0) lines.push({
    kind: "c3",
    name: `${others.length} ${worst.length > 0 ? "others" : "proxies"}, mean`,
    shares: shares(others, left),
  });
  const ticks = ticksTo(Math.max(1, ...lines.flatMap((line) => line.shares.map(Number))));
  const label = lines.length > 0
    ? lines.map((line) => `${line.name}: at most ${decimal(Math.max(0, ...line.shares.map(Number)))} % refused in a minute`).join("; ")
    : "There is no proxy";
  return html`<${Chart} title="Refused by proxy" from=${shown?.from} unit=${`% of its requests, ${left > 0 && shown ? `since ${clockTime(shown.from)}` : "60 min"}`} ticks=${ticks}
    axis=${shown ? timeAxis(shown.from, shown.to) : []} label=${label} height=${7}
    legend=${lines.map((line) => html`<${Key} kind=${line.kind}>${line.name}</${Key}>`)}>
    ${lines.map((line) => html`<${Line} values=${line.shares} top=${ticks[ticks.length - 1]}
      kind=${line.kind === "c3" ? "c3 dash" : line.kind} text=${valueText(shown, `% refused, ${line.name}`)} />`)}
  </${Chart}>`;
}

/** @param {StatsSeries | null} series */
const minutesOf = (series) => (series ? (Date.parse(series.to) - Date.parse(series.from)) / 60_000 : 0);

/**
 * Percent by minute, without the first `left`; null without requests.
 * @param {ProxyHealth[]} group
 * @param {number} left
 * @returns {(number | null)[]}
 */
function shares(group, left) {
  const minutes = group[0]?.requests.length ?? 0;
  return Array.from({ length: Math.max(0, minutes - left) }, (_, minute) => {
    const at = left + minute;
    const asked = total(group.map((each) => each.requests[at] ?? 0));
    return asked > 0 ? (100 * total(group.map((each) => each.blocked[at] ?? 0))) / asked : null;
  });
}

export function BytesADay() {
  const [data] = sinceFirst([useSeries({ metric: "bytes", by: "outcome", minutes: DAYS * MINUTES_A_DAY, step: "1d" }).data]);
  const points = sumOf(data);
  const span = data && points.length < DAYS ? `since ${day(data.from)}` : `${DAYS} days`;
  const ticks = ticksTo(Math.max(1, ...points));
  const today = points[points.length - 1] ?? 0;
  const label = `Bytes through proxies on each day, ${span}: at most ${bytes(Math.max(0, ...points))}, ${bytes(today)} so far today`;
  return html`<${Chart} title="Bytes a day" from=${data?.from} unit=${`both directions, ${span}`} ticks=${ticks}
    format=${(/** @type {number} */ tick) => short(tick)} axis=${data ? timeAxis(data.from, data.to) : []}
    label=${label} height=${7} legend=${html`<${Key} kind="bars">today until now ${bytes(today)}</${Key}>`}>
    <${Bars} parts=${[{ values: points }]} top=${ticks[ticks.length - 1]} />
  </${Chart}>`;
}

/** The label of a tick, which has little room. @param {number} value */
const short = (value) => bytes(value).replace(".0", "").replace(" ", "");
