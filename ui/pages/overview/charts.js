// @ts-check
// Three charts of the last hours or days: ended tasks, their durations, refused requests.

import { pathOf } from "../../core/api.js";
import { link } from "../../core/base.js";
import { clockTime, count, decimal, duration, plural, shortTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { setQuery } from "../../core/router.js";
import { Bars, Chart, Key, Limit, Line, ticksTo, timeAxis } from "../../parts/chart.js";
import { pointsOfKey, sinceFirst, sumOf, total, useSeries, valueText } from "../../parts/series.js";

/** @import { EventOf } from "../../core/html.js" */
/** @import { Dimension, Metric, StatsSeries } from "../../types/api" */

/**
 * @typedef {object} Range a span of time until now
 * @property {string} name
 * @property {number} minutes
 * @property {string} step of a point
 * @property {string} each point, in words
 */

const MINUTES_A_DAY = 1440;
/** @type {Range[]} */
const RANGES = [
  { name: "1 h", minutes: 60, step: "1m", each: "minute" },
  { name: "6 h", minutes: 360, step: "5m", each: "5 minutes" },
  { name: "24 h", minutes: MINUTES_A_DAY, step: "15m", each: "15 minutes" },
  { name: "7 d", minutes: 10_080, step: "1h", each: "hour" },
];
const USUAL_ROLE = "payload_fetch";
const FIRST_ROLE = "product_discovery";
/** Roles with a part of their own: more than three parts cannot be told apart. */
const ROLES_SHOWN = 2;

/**
 * A time span as the charts show it: its words beside a unit, and in a sentence.
 * @typedef {Range & { span: string, period: string }} Shown
 */

/**
 * @param {object} properties
 * @param {URLSearchParams} properties.query
 * @param {number} [properties.breakerShare] of refused requests; 0: no limit
 */
export function Charts({ query, breakerShare }) {
  const range = RANGES.find(({ name }) => name === query.get("range")) ?? RANGES[0];
  const { minutes, step } = range;
  const by = query.get("split") === "role" ? "role" : "outcome";
  /** @param {Metric} metric @param {Dimension} of @param {number} [series] */
  const useData = (metric, of, series) => useSeries({ metric, by: of, minutes, step, series }).data;
  const read = [
    useData("requests", "proxy", 100),
    useData("blocks", "proxy", 100),
    // an outcome is one of few: each has a place of its own
    useData("tasks", by, by === "role" ? ROLES_SHOWN : undefined),
    useData("runs", "role"),
    useData("waits", "role"),
  ];
  const all = sinceFirst(read);
  const [requests, blocks, tasks, runs, waits] = all;
  const cut = all.find((each, at) => each !== read[at]);
  const since = cut ? (minutes > MINUTES_A_DAY ? shortTime : clockTime)(cut.from) : null;
  const words = since
    ? { span: `since ${since}`, period: `time since ${since}` }
    : { span: range.name, period: `last ${range.name}` };
  const shown = { ...range, ...words };
  return html`<section class="stack tight" aria-label="Charts">
    <${Ranges} query=${query} shown=${range} />
    ${since && html`<p class="scope">In the last ${range.name}, nothing was counted before ${since}.</p>`}
    <div class="cols three even charts">
      <div class="panel panel-body"><${Throughput} data=${tasks} by=${by} range=${shown} /></div>
      <div class="panel panel-body"><${Latency} query=${query} runs=${runs} waits=${waits} range=${shown} /></div>
      <div class="panel panel-body"><${Refused} requests=${requests} blocks=${blocks} range=${shown} breakerShare=${breakerShare} /></div>
    </div>
  </section>`;
}

/** @param {{ query: URLSearchParams, shown: Range }} properties */
const Ranges = ({ query, shown }) =>
  html`<nav class="tabs" aria-label="Time span of the charts">${RANGES.map(({ name }) =>
    html`<a key=${name} href=${link("/admin", { ...Object.fromEntries(query), range: name === RANGES[0].name ? null : name })}
      aria-current=${name === shown.name ? "true" : undefined}>${name}</a>`)}</nav>`;

/** @param {StatsSeries | null} data */
const axisOf = (data) => (data ? timeAxis(data.from, data.to) : []);

/** Ended attempts by outcome, or by role. @param {{ data: StatsSeries | null, by: "role" | "outcome", range: Shown }} properties */
function Throughput({ data, by, range }) {
  const parts = data?.by === by ? (by === "role" ? partsByRole(data) : partsByOutcome(data)) : [];
  const ended = (parts[0]?.values ?? []).map((_, at) => total(parts.map(({ values }) => values[at] ?? 0)));
  const ticks = ticksTo(Math.max(0, ...ended));
  const all = total(ended);
  const most = `at most ${count(Math.max(...ended))}, ${decimal(all / ended.length)} on average`;
  const each = parts.map(({ name, values }) => `${name} ${count(total(values))}`).join(", ");
  const label = all
    ? `Attempts of tasks that ended in each ${range.each} of the ${range.period}: ${most}; ${each}`
    : `No ended attempt of the ${range.period} is counted yet`;
  const choose = (/** @type {EventOf<HTMLSelectElement>} */ event) =>
    setQuery({ split: event.target.value === "role" ? "role" : null }, { replace: true });
  return html`<${Chart} title="Throughput" from=${data?.from} ticks=${ticks} axis=${axisOf(data)} label=${label}
    unit=${html`each ${range.each}, ${range.span} <select class="small" aria-label="Parts of the throughput chart" onChange=${choose}>
      ${["outcome", "role"].map((word) => html`<option key=${word} value=${word} selected=${word === by}>by ${word}</option>`)}</select>`}
    legend=${parts.map(({ name, kind, values }) =>
      html`<${Key} key=${name} kind=${kind === "bad" ? "cbad" : kind || "bars"} box>${name} ${count(total(values))}</${Key}>`)}
    words=${data?.by === by && all === 0 && html`<span class="mark-at inside quiet">no end is counted yet</span>`}>
    <${Bars} parts=${parts} top=${ticks[ticks.length - 1]} />
  </${Chart}>`;
}

/** @typedef {{ name: string, kind: string, values: number[] }} Part */

/** @param {StatsSeries} data @returns {Part[]} */
const partsByOutcome = (data) => [
  { name: "attempts completed", kind: "", values: pointsOfKey(data, "completed") },
  { name: "attempts failed", kind: "bad", values: pointsOfKey(data, "failed") },
];

/** The busiest roles, and the rest as one. @param {StatsSeries} data @returns {Part[]} */
const partsByRole = ({ series, other }) => [
  ...series.map(({ key, points }, at) => ({ name: key, kind: ["", "c2"][at], values: points })),
  ...(other ? [{ name: plural(other.series, "other role"), kind: "c3", values: other.points }] : []),
];

/** @type {["p50" | "p95" | "p99", string][]} */
const PARTS = [["p50", "c1"], ["p95", "c2"], ["p99", "c3"]];

/** The durations of one role. @param {Record<"runs" | "waits", StatsSeries | null> & { query: URLSearchParams, range: Shown }} properties */
function Latency({ query, runs, waits, range: { span, period } }) {
  const limits = useResource(pathOf("/api/worker-registry/roles"), {}).data;
  const counted = (runs?.series ?? []).map(({ key }) => key);
  const roles = [...new Set([USUAL_ROLE, ...counted])];
  // on the first day, all crawls are first ones
  const usual = !counted.includes(USUAL_ROLE) && counted.includes(FIRST_ROLE) ? FIRST_ROLE : USUAL_ROLE;
  const role = roles.find((each) => each === query.get("role")) ?? usual;
  const [run, wait] = [runs, waits].map((data) => data?.series.find(({ key }) => key === role)?.percentiles ?? null);
  const limit = limits?.find((each) => each.role === role)?.time_limit_seconds ?? null;
  const highest = Math.max(0, ...[run?.p99, wait?.p95].flatMap((each) => each?.points ?? []).map(Number));
  const ticks = ticksTo(highest);
  const top = ticks[ticks.length - 1];
  const label = run
    ? `Seconds of ${role} runs in the ${period}: half took at most ${decimal(run.p50.whole)}, 95 % ${decimal(run.p95.whole)}, 99 % ${decimal(run.p99.whole)}; 95 % waited at most ${decimal(wait?.p95.whole)}`
    : `No run of ${role} was counted in the ${period}`;
  const choose = (/** @type {EventOf<HTMLSelectElement>} */ event) => setQuery({ role: event.target.value }, { replace: true });
  return html`<${Chart} title="Latency" from=${runs?.from} ticks=${ticks} axis=${axisOf(runs)} label=${label}
    unit=${html`seconds, ${span} <select class="small" aria-label="Role of the latency chart" onChange=${choose}>
      ${roles.map((each) => html`<option key=${each} selected=${each === role}>${each}</option>`)}</select>`}
    legend=${html`<${Key} kind="c1">p50 ${decimal(run?.p50.whole)}</${Key}><${Key} kind="c2">p95 ${decimal(run?.p95.whole)}</${Key}>
      <${Key} kind="c3">p99 ${decimal(run?.p99.whole)}</${Key}> <span class="dim">wait p95 ${decimal(wait?.p95.whole)}${limit !== null && ` · limit ${duration(limit)}`}</span>`}
    words=${runs && !run && html`<span class="mark-at inside quiet">no duration is counted yet</span>`}>
    ${run && PARTS.map(([part, kind]) =>
      html`<${Line} key=${part} values=${run[part].points} top=${top} kind=${kind} text=${valueText(runs, `s ${part}`)} />`)}
    ${wait && html`<${Line} values=${wait.p95.points} top=${top} kind="c2 dash" />`}
    ${limit !== null && limit <= top && html`<${Limit} at=${limit} top=${top} />`}
  </${Chart}>`;
}

/** @param {Record<"requests" | "blocks", StatsSeries | null> & { range: Shown, breakerShare?: number }} properties */
function Refused({ requests, blocks, range, breakerShare }) {
  const asked = sumOf(requests);
  const refused = sumOf(blocks);
  const shares = asked.map((number, at) => (number > 0 ? (100 * (refused[at] ?? 0)) / number : null));
  const limit = 100 * (breakerShare ?? 0);
  const ticks = ticksTo(Math.max(1, limit, ...shares.map(Number)));
  const top = ticks[ticks.length - 1];
  const number = total(asked);
  const whole = number > 0 ? (100 * total(refused)) / number : null;
  const requested = plural(number, "request");
  const most = decimal(Math.max(...shares.map(Number)));
  const label = whole === null
    ? `No request was sent in the ${range.period}`
    : `${decimal(whole)} % of ${requested} of the ${range.period} were refused, at most ${most} % in a point${limit > 0 ? `; a host's breaker opens at ${decimal(limit)} %` : ""}`;
  return html`<${Chart} title="Block rate" from=${requests?.from} unit=${`% of ${requested}, ${range.span}`} ticks=${ticks}
    axis=${axisOf(requests)} label=${label}
    legend=${html`<${Key} kind="cbad">refused ${whole === null ? "–" : `${decimal(whole)} %`}</${Key}>
      ${limit > 0 && html`<span><i class="dashed"></i>breaker of a host</span>`}
      ${breakerShare === 0 && html`<span class="dim">breaker off</span>`}`}
    words=${limit > 0 && html`<span class="mark-at inside" style=${{ "--at": (100 * limit) / top }}>opens at ${decimal(limit)} %</span>`}>
    <${Line} values=${shares} top=${top} kind="cbad" area text=${valueText(requests, "% refused")} />
    ${limit > 0 && html`<${Limit} at=${limit} top=${top} />`}
  </${Chart}>`;
}
