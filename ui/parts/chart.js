// @ts-check
// Charts: the plot is SVG and stretches; its words are HTML and keep their size. A chart is one image with a
// sentence that describes it.

import { html } from "../core/html.js";
import { now } from "../core/clock.js";
import { clockTime, count, day, decimal, exactClockTime, plural, shortTime } from "../core/format.js";
import { SimulatedPart } from "./simulated.js";

/** @import { Children } from "../core/html.js" */

/** Size of the plot, in its own units. */
export const WIDTH = 600;
export const HEIGHT = 100;

/**
 * Round ticks from zero to at least `max`, three to five.
 * @param {number} max
 * @returns {number[]}
 */
export function ticksTo(max) {
  if (!(max > 0)) return [0, 1];
  const rough = max / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((times) => times * power).find((each) => each >= rough) ?? 10 * power;
  const ticks = [];
  for (let at = 0; ; at += 1) {
    ticks.push(at * step);
    if (at * step >= max) return ticks;
  }
}

/**
 * @param {object} properties
 * @param {Children} properties.title
 * @param {Children} properties.unit and the period
 * @param {Children} [properties.legend]
 * @param {number[]} properties.ticks from zero up
 * @param {(value: number) => string} [properties.format] of a tick
 * @param {string | number} [properties.from] the time of its first point, where a demo simulates such points
 * @param {Label[]} [properties.axis] labels from left to right
 * @param {string} properties.label what is to be seen, as a sentence
 * @param {number} [properties.height] rem
 * @param {number} [properties.right] rem, for words beside the plot
 * @param {Children} [properties.words] HTML inside the plot
 * @param {Children} [properties.children] SVG
 */
export function Chart({ title, unit, from, legend, ticks, format = plain, axis = [], label, height = 6.5, right = 0, words, children }) {
  const top = ticks[ticks.length - 1] || 1;
  return html`<figure class="chart" style=${{ "--h": `${height}rem`, "--right": `${right}rem` }}>
    <figcaption><b>${title}</b> ${unit}<${SimulatedPart} from=${from} /></figcaption>
    <p class="key-list">${legend ?? " "}</p>
    <div class="plot">
      <ol class="ticks" aria-hidden="true">
        ${ticks.map((tick) => html`<li style=${{ "--at": (100 * tick) / top }}><span>${format(tick)}</span></li>`)}</ol>
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${label}>${children}</svg>
      ${words}
    </div>
    ${axis.length > 0 && html`<${Axis} labels=${axis} />`}
  </figure>`;
}

/** A label and its place, in percent of the width. @typedef {{ text: string, at: number }} Label */

/** @param {{ labels: Label[] }} properties */
export const Axis = ({ labels }) => html`<ol class="axis" aria-hidden="true">${labels.map(({ text, at }) =>
  html`<li class=${at <= 5 ? "first" : at >= 95 ? "last" : ""} style=${{ "--at": at }}>${text}</li>`)}</ol>`;

/** @param {number} tick */
const plain = (tick) => (tick >= 1000 ? `${tick / 1000} k` : Number.isInteger(tick) ? String(tick) : decimal(tick));

/** A height in the plot. @param {number} value @param {number} top */
export const y = (value, top) => HEIGHT - (HEIGHT * Math.min(value, top)) / top;

/**
 * Bars of some parts, one on top of the other.
 * @param {{ parts: { values: number[], kind?: string }[], top: number }} properties
 */
export function Bars({ parts, top }) {
  const number = Math.max(1, ...parts.map(({ values }) => values.length));
  const width = WIDTH / number;
  const gap = Math.min(2, width / 4);
  return Array.from({ length: number }, (_, at) => {
    let sum = 0;
    return parts.map(({ values, kind = "" }) => {
      const value = values[at] ?? 0;
      if (value <= 0) return null;
      const [below, above] = [y(sum, top), y(sum + value, top)];
      const height = Math.max(1, below - above - (sum > 0 ? 1 : 0));
      sum += value;
      return html`<rect class=${`bar ${kind}`} x=${at * width + gap / 2} y=${above} width=${width - gap} height=${height} />`;
    });
  });
}

/**
 * A line that is broken where there is no value.
 * @param {object} properties
 * @param {(number | null)[]} properties.values
 * @param {number} properties.top
 * @param {string} properties.kind
 * @param {boolean} [properties.area]
 * @param {(value: number, at: number) => string} [properties.text] of one value, for its dot
 */
export function Line({ values, top, kind, area = false, text }) {
  const step = WIDTH / Math.max(1, values.length - 1);
  const runs = runsOf(values);
  const path = (/** @type {{ from: number, values: number[] }} */ run) =>
    run.values.map((value, at) => `${at ? "L" : "M"}${((run.from + at) * step).toFixed(1)} ${y(value, top).toFixed(1)}`).join("");
  const filled = (/** @type {{ from: number, values: number[] }} */ run) =>
    `${path(run)}V${HEIGHT}H${(run.from * step).toFixed(1)}Z`;
  return html`${area && html`<path class=${`area ${kind}`} d=${runs.map(filled).join("")} />`}
    <path class=${`line ${kind}`} d=${runs.filter((run) => run.values.length > 1).map(path).join("")} />
    <${Dots} points=${values.map((value, at) => ({
      at: (at * step) / WIDTH,
      value,
      text: value !== null && text?.(value, at),
      isAlone: (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null,
    }))} top=${top} kind=${kind} />`;
}

/** Maximum number of values of a line that are dots, too: more would touch. */
const MAX_DOTS = 40;

/**
 * A value as a dot, with its words on hover. `at` is a share of the width, 0 to 1; one that is alone is on no line.
 * @typedef {{ at: number, value: number | null, text?: string | false, isAlone?: boolean }} Dot
 */

/** All values where there are few, else those that are alone. @param {{ points: Dot[], top: number, kind: string }} properties */
export function Dots({ points, top, kind }) {
  const there = points.filter(({ value }) => value !== null);
  const shown = there.length > MAX_DOTS ? there.filter(({ isAlone }) => isAlone) : there;
  return shown.map(({ at, value, text }) =>
    html`<path class=${`dot ${kind}`} d=${`M${(at * WIDTH).toFixed(1)} ${y(value ?? 0, top).toFixed(1)}h.01`}>${text && html`<title>${text}</title>`}</path>`);
}

/** @param {(number | null)[]} values */
function runsOf(values) {
  /** @type {{ from: number, values: number[] }[]} */
  const runs = [];
  values.forEach((value, at) => {
    if (value === null) return;
    const last = runs[runs.length - 1];
    if (last && last.from + last.values.length === at) last.values.push(value);
    else runs.push({ from: at, values: [value] });
  });
  return runs;
}

/** A dotted line. @param {{ at: number, top: number }} properties */
export const Limit = ({ at, top }) => html`<path class="limit" d=${`M0 ${y(at, top)}H${WIDTH}`} />`;

/**
 * An entry of the legend; its kind is c1, c2, c3, cbad or bars.
 * @param {{ kind: string, box?: boolean, children?: Children }} properties
 */
export const Key = ({ kind, box = false, children }) =>
  kind === "bars"
    ? html`<span class="cbar"><i class="box"></i>${children}</span>`
    : html`<span class=${kind}><i class=${box ? "box" : ""}></i>${children}</span>`;

const DAY_MS = 86_400_000;
/** A shorter axis would repeat its minutes. */
const SECONDS_BELOW_MS = 180_000;

/** Maximum number of days that an axis names. */
const MAX_DAYS = 5;

/**
 * Labels over a period, none twice, each where its time is: four times of day, from a day on with the day where it is another; or
 * the beginnings of some days if it is longer than two, the last one among them.
 * @param {string | number} from
 * @param {string | number} to
 * @returns {Label[]}
 */
export function timeAxis(from, to) {
  const [begin, end] = [new Date(from).getTime(), new Date(to).getTime()];
  return end - begin > 2 * DAY_MS ? dayAxis(begin, end) : clockAxis(begin, end);
}

/** @param {number} begin @param {number} end */
function clockAxis(begin, end) {
  const length = end - begin;
  const write = length < SECONDS_BELOW_MS ? exactClockTime : clockTime;
  // the last point of a period may not be over
  const last = Math.min(end, now());
  const times = [0, 1, 2, 3].map((at) => Math.min(begin + (length * at) / 3, last));
  const isNewDay = (/** @type {number} */ at) => length >= DAY_MS && (at === 0 || day(times[at]) !== day(times[at - 1]));
  const labels = times.map((time, at) => ({ text: isNewDay(at) ? shortTime(time) : write(time), at: (100 * at) / 3 }));
  return labels.filter(({ text }, at) => text !== labels[at - 1]?.text);
}

/** @param {number} begin @param {number} end */
function dayAxis(begin, end) {
  const last = Math.floor(Math.min(end - 1, now()) / DAY_MS) * DAY_MS;
  const step = Math.ceil((end - begin) / DAY_MS / MAX_DAYS) * DAY_MS;
  const labels = [];
  for (let time = last; time >= begin; time -= step) labels.unshift({ text: day(time), at: (100 * (time - begin)) / (end - begin) });
  return labels;
}

/** Minimum heights of parts: one refusal of many is seen, too; a silence now and then is none of the proxy's. */
const MIN_REFUSED = 18;
const MIN_SILENT = 4;
const OK_HEIGHT = 60;
const SPARK_WIDTH = 4;
const SPARK_MS = 3_600_000;

/**
 * Requests of some minutes at a glance: answers, and from the bottom up the refusals and the requests without an answer.
 * @param {{ all: number[], bad: number[], none: number[] }} properties
 */
export function Spark({ all, bad, none }) {
  if (all.length === 0) return null;
  const sum = (/** @type {number[]} */ values) => values.reduce((before, value) => before + value, 0);
  const words = `${plural(sum(all), "request")}: ${count(sum(bad))} refused, ${count(sum(none))} without an answer`;
  return html`<span title=${words}><span class="sr">${words}</span><svg class="spark" viewBox=${`0 0 ${all.length * SPARK_WIDTH - 1} ${HEIGHT}`}
    preserveAspectRatio="none" aria-hidden="true">${all.map((number, at) => minuteOf(at, number, bad[at] ?? 0, none[at] ?? 0))}</svg></span>`;
}

/** @param {number} at @param {number} number @param {number} bad @param {number} none */
function minuteOf(at, number, bad, none) {
  const requests = Math.max(number, bad + none);
  const heightOf = (/** @type {number} */ part, /** @type {number} */ least) => (part > 0 ? Math.max(least, (HEIGHT * part) / requests) : 0);
  const [refused, silent] = [heightOf(bad, MIN_REFUSED), heightOf(none, MIN_SILENT)];
  const x = at * SPARK_WIDTH;
  return html`${requests > bad + none && html`<rect class="ok" x=${x} y=${HEIGHT - OK_HEIGHT} width="3" height=${OK_HEIGHT} />`}
    ${refused > 0 && html`<rect class="bad" x=${x} y=${HEIGHT - refused} width="3" height=${refused} />`}
    ${silent > 0 && html`<rect class="none" x=${x} y=${Math.max(0, HEIGHT - refused - silent)} width="3" height=${silent} />`}`;
}

/** The colours of a `Spark`. */
export const SparkKeys = () => html`<p class="panel-foot key-list not-phone"><${Key} kind="bars">answered</${Key}>
  <${Key} kind="cbad" box=${true}>refused</${Key}><${Key} kind="cnone" box=${true}>no answer<${SimulatedPart} from=${now() - SPARK_MS} /></${Key}></p>`;
