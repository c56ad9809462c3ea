// @ts-check
// Requests of proxies refused in the last hour, and the bytes of the last days, which determine their cost.

import { bytes, decimal } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Bars, Chart, Key, Line, ticksTo, timeAxis } from "../../parts/chart.js";
import { sumOf, total, useSeries, valueText } from "../../parts/series.js";

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
  const worst = [...fleet].filter(({ refused }) => refused > 0).sort((a, b) =>
    b.refused / b.asked - a.refused / a.asked).slice(0, KINDS.length);
  const others = fleet.filter((each) => !worst.includes(each));
  const lines = worst.map((each, at) => ({ kind: KINDS[at], name: `${each.proxy.host}:${each.proxy.port}`, shares: shares([each]) }));
  if (others.length > 0) lines.push({
    kind: "c3",
    name: `${others.length} ${worst.length > 0 ? "others" : "proxies"}, mean`,
    shares: shares(others),
  });
  const ticks = ticksTo(Math.max(1, ...lines.flatMap((line) => line.shares.map(Number))));
  const label = lines.length > 0
    ? lines.map((line) => `${line.name}: at most ${decimal(Math.max(0, ...line.shares.map(Number)))} % refused in a minute`).join("; ")
    : "There is no proxy";
  return html`<${Chart} title="Refused by proxy" unit="% of its requests, 60 min" ticks=${ticks}
    axis=${series ? timeAxis(series.from, series.to) : []} label=${label} height=${7}
    legend=${lines.map((line) => html`<${Key} kind=${line.kind}>${line.name}</${Key}>`)}>
    ${lines.map((line) => html`<${Line} values=${line.shares} top=${ticks[ticks.length - 1]}
      kind=${line.kind === "c3" ? "c3 dash" : line.kind} text=${valueText(series, `% refused, ${line.name}`)} />`)}
  </${Chart}>`;
}

/** Percent by minute; null without requests. @param {ProxyHealth[]} group @returns {(number | null)[]} */
function shares(group) {
  const minutes = group[0]?.requests.length ?? 0;
  return Array.from({ length: minutes }, (_, at) => {
    const asked = total(group.map((each) => each.requests[at] ?? 0));
    return asked > 0 ? (100 * total(group.map((each) => each.blocked[at] ?? 0))) / asked : null;
  });
}

export function BytesADay() {
  const data = useSeries({ metric: "bytes", by: "outcome", minutes: DAYS * MINUTES_A_DAY, step: "1d" }).data;
  const points = sumOf(data);
  const ticks = ticksTo(Math.max(1, ...points));
  const today = points[points.length - 1] ?? 0;
  const label = `Bytes through proxies on each of ${DAYS} days: at most ${bytes(Math.max(0, ...points))}, ${bytes(today)} so far today`;
  return html`<${Chart} title="Bytes a day" unit=${`both directions, ${DAYS} days`} ticks=${ticks}
    format=${(/** @type {number} */ tick) => short(tick)} axis=${data ? timeAxis(data.from, data.to) : []}
    label=${label} height=${7} legend=${html`<${Key} kind="bars">today until now ${bytes(today)}</${Key}>`}>
    <${Bars} parts=${[{ values: points }]} top=${ticks[ticks.length - 1]} />
  </${Chart}>`;
}

/** The label of a tick, which has little room. @param {number} value */
const short = (value) => bytes(value).replace(".0", "").replace(" ", "");
