// @ts-check
// Three charts of the last hour: ended attempts, their durations, refused requests. A task may have several attempts.

import { count, decimal } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Bars, Chart, Key, Line, ticksTo, timeAxis } from "../../parts/chart.js";
import { allOf, pointsOfKey, sumOf, total, useSeries } from "../../parts/series.js";

/** @import { StatsSeries } from "../../types/api" */

/** @param {Record<"tasks" | "requests" | "blocks", StatsSeries | null>} properties */
export function Charts({ tasks, requests, blocks }) {
  return html`<div class="cols three even charts">
    <div class="panel panel-body"><${Throughput} data=${tasks} /></div>
    <div class="panel panel-body"><${Latency} /></div>
    <div class="panel panel-body"><${Refused} requests=${requests} blocks=${blocks} /></div>
  </div>`;
}

/** @param {StatsSeries | null} data */
const axisOf = (data) => (data ? timeAxis(data.from, data.to) : []);

/** @param {{ data: StatsSeries | null }} properties */
function Throughput({ data }) {
  const completed = pointsOfKey(data, "completed");
  const failed = pointsOfKey(data, "failed");
  const ended = completed.map((value, at) => value + failed[at]);
  const ticks = ticksTo(Math.max(0, ...ended));
  const all = total(ended);
  const most = `at most ${count(Math.max(...ended))}, ${decimal(all / ended.length)} on average`;
  const label = all
    ? `Attempts of tasks that ended in each minute of the last hour: ${most}; ${count(total(failed))} failed`
    : "No ended attempt of the last hour is counted yet";
  return html`<${Chart} title="Throughput" unit="attempts a minute, 60 min" ticks=${ticks} axis=${axisOf(data)} label=${label}
    legend=${html`<${Key} kind="bars">attempts completed ${count(total(completed))}</${Key}>
      <${Key} kind="cbad" box>attempts failed ${count(total(failed))}</${Key}>`}
    words=${data && all === 0 && html`<span class="mark-at inside quiet">no end is counted yet</span>`}>
    <${Bars} values=${completed} bad=${failed} top=${ticks[ticks.length - 1]} />
  </${Chart}>`;
}

function Latency() {
  const runs = useSeries({ metric: "runs", by: "outcome" }).data;
  const waits = useSeries({ metric: "waits", by: "role" }).data;
  const run = meansOf(runs);
  const wait = meansOf(waits);
  const ticks = ticksTo(Math.max(0, ...run.points.map(Number), ...wait.points.map(Number)));
  const top = ticks[ticks.length - 1];
  const label = `Mean seconds of the last hour: a run took ${decimal(run.whole)}, a task waited ${decimal(wait.whole)}`;
  return html`<${Chart} title="Latency" unit="mean seconds, 60 min" ticks=${ticks} axis=${axisOf(runs)} label=${label}
    legend=${html`<${Key} kind="c1">run ${decimal(run.whole)}</${Key}><${Key} kind="c2">wait ${decimal(wait.whole)}</${Key}>`}>
    <${Line} values=${run.points} top=${top} kind="c1" /><${Line} values=${wait.points} top=${top} kind="c2 dash" />
  </${Chart}>`;
}

/**
 * The mean of all series, by point and of the whole; null where nothing was counted.
 * @param {StatsSeries | null} data
 * @returns {{ points: (number | null)[], whole: number | null }}
 */
function meansOf(data) {
  const series = (data ? allOf(data) : []).flatMap(({ mean_seconds: mean, ...each }) => (mean ? [{ ...each, mean }] : []));
  const length = Math.max(0, ...series.map(({ points }) => points.length));
  const points = Array.from({ length }, (_, at) => weighted(series.map((each) => [each.points[at], each.mean.points[at]])));
  return { points, whole: weighted(series.map((each) => [each.total, each.mean.whole ?? null])) };
}

/** @param {[number, number | null][]} parts number and mean */
function weighted(parts) {
  const number = total(parts.map(([weight, mean]) => (mean === null ? 0 : weight)));
  return number > 0 ? total(parts.map(([weight, mean]) => weight * (mean ?? 0))) / number : null;
}

/** @param {Record<"requests" | "blocks", StatsSeries | null>} properties */
function Refused({ requests, blocks }) {
  const asked = sumOf(requests);
  const refused = sumOf(blocks);
  const shares = asked.map((number, at) => (number > 0 ? (100 * (refused[at] ?? 0)) / number : null));
  const ticks = ticksTo(Math.max(1, ...shares.map(Number)));
  const whole = total(asked) > 0 ? (100 * total(refused)) / total(asked) : null;
  const most = decimal(Math.max(...shares.map(Number)));
  const label = whole === null
    ? "No request was made in the last hour"
    : `${decimal(whole)} % of ${count(total(asked))} requests of the last hour were refused, at most ${most} % in a minute`;
  return html`<${Chart} title="Block rate" unit=${`% of ${count(total(asked))} requests, 60 min`} ticks=${ticks}
    axis=${axisOf(requests)} label=${label}
    legend=${html`<${Key} kind="cbad">refused ${whole === null ? "–" : `${decimal(whole)} %`}</${Key}>`}>
    <${Line} values=${shares} top=${ticks[ticks.length - 1]} kind="cbad" area />
  </${Chart}>`;
}
