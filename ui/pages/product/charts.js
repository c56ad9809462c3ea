// @ts-check
// Stock over time, and what its charts share with that of the price. A value lasts until the next crawl; a gap between
// crawls is hatched, and breaks the line.

import { clockTime, count, day, exactTime, shortTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Chart, Dots, Limit, ticksTo, timeAxis, WIDTH } from "../../parts/chart.js";
import { Panel } from "../../parts/panel.js";
import { quantityText } from "../../parts/products.js";
import { Steps } from "../../parts/steps.js";
import { periodsOf, shownPoints, stepsOf } from "./series.js";

/** @import { Period, Point, Series, Span } from "./series.js" */

/** Colour and stroke of each series. */
export const KINDS = ["c1", "c2", "c3 dash"];
/** The cap from which on the platform gives no exact quantity. */
const CAP = 25;
const DAY_MS = 86_400_000;

/** @param {{ span: Span }} properties */
export const Gaps = ({ span }) =>
  span.gaps.map((gap) => html`<i class="gap"
    style=${{ "--from": percent(gap.from, span), "--for": percent(gap.to, span) - percent(gap.from, span) }}></i>`);

/** @param {{ series: Series[], span: Span, period: string }} properties */
export function StockCharts({ series, span, period }) {
  return html`<${Panel} title="Stock" scope=${`units of each option, ${period}; red means sold out`}><div class="panel-body">
    ${series.map((each, at) =>
      html`<${Stock} key=${each.key} of=${each} span=${span} period=${period} isLast=${at === series.length - 1} />`)}
  </div></${Panel}>`;
}

/** @param {{ of: Series, span: Span, period: string, isLast: boolean }} properties */
function Stock({ of, span, period, isLast }) {
  const points = shownPoints(of, span).filter(({ gone }) => !gone);
  const most = Math.max(0, ...points.map(({ quantity }) => quantity ?? 0));
  const isCapped = points.some(({ quantity_censored }) => quantity_censored);
  const ticks = most > CAP ? [0, ticksTo(most).slice(-1)[0]] : [0, CAP];
  const top = ticks[1];
  const soldOut = periodsOf(of, span, (point) => !point.is_in_stock);
  const words = stockWords(points, soldOut, span);
  const last = of.points[of.points.length - 1];
  const left = last && !last.gone ? leftOf(last) : null;
  const format = (/** @type {number} */ tick) => (tick === CAP && isCapped ? `${count(tick)}+` : count(tick));
  return html`<${Chart} title=${html`<bdi>${of.name}</bdi>`} unit=${words} ticks=${ticks} format=${format} height=${3.6}
    right=${5} axis=${isLast ? timeAxis(span.from, span.to) : []}
    label=${`Stock of ${of.name}, ${period}: ${words || "no data"}`}
    words=${html`<${Gaps} span=${span} />
      ${left !== null &&
        html`<span class=${`mark-at ${left.kind}`} style=${{ "--at": Math.min(100, (100 * left.quantity) / top) }}>${left.text}</span>`}`}>
    ${isCapped && most <= CAP && html`<${Limit} at=${top} top=${top} />`}
    <${Steps} points=${stepsOf(of, span, (point) => (point.is_in_stock ? point.quantity : 0))} top=${top} kind="c1" area=${true} />
    <${Dots} top=${top} kind="c1"
      points=${crawlsOf(of, span, (point) => (point.is_in_stock ? point.quantity : 0), (point) => leftOf(point)?.text ?? "")} />
    ${soldOut.map((each) => html`<rect class="bar bad" x=${x(each.from, span)} y="92"
      width=${Math.max(1, x(each.to, span) - x(each.from, span))} height="8" />`)}
  </${Chart}>`;
}

/**
 * The crawls within the span, as dots.
 * @param {Series} series
 * @param {Span} span
 * @param {(point: Point) => number | null} valueOf
 * @param {(point: Point) => string} textOf
 */
export const crawlsOf = (series, span, valueOf, textOf) =>
  shownPoints(series, span).filter(({ gone, time }) => !gone && time >= span.from).map((point) =>
    ({ at: percent(point.time, span) / 100, value: valueOf(point), text: `${exactTime(point.time)}: ${textOf(point)}` }));

/** The words at the end of the line: a sold out product has none left, whatever number its platform still reports. @param {Point} last */
function leftOf(last) {
  if (!last.is_in_stock) return { quantity: 0, text: "sold out", kind: "cbad" };
  return last.quantity === null ? null : { quantity: last.quantity, text: `${quantityText(last)} left`, kind: "c1" };
}

/** @param {Point[]} points @param {Period[]} soldOut @param {Span} span */
function stockWords(points, soldOut, span) {
  if (points.length === 0) return "not on the menu in this time";
  const last = soldOut[soldOut.length - 1];
  const words = [];
  if (last && last.to >= span.to) words.push(last.from <= span.from ? "sold out all the time" : `sold out since ${shortTime(last.from)}`);
  else if (soldOut.length === 1) words.push(`sold out ${fromTo(last, span)}`);
  else if (last) words.push(`sold out ${count(soldOut.length)} times, the last ${fromTo(last, span)}`);
  const capped = points.filter(({ quantity_censored }) => quantity_censored);
  if (capped.length > 0) words.push(capped.every(({ quantity }) => quantity === CAP) ? `${CAP}+: the platform reports at most ${CAP}` : "+: there may be more");
  if (points.every(({ quantity }) => quantity === null)) words.push("the platform reports no numbers");
  return words.join("; ");
}

/** @param {number} time @param {Period} span */
const percent = (time, span) => (100 * (time - span.from)) / (span.to - span.from);
/** @param {number} time @param {Period} span */
export const x = (time, span) => (WIDTH * percent(time, span)) / 100;
/** `6 to 9 Nov`, or times of day within one. @param {Period} period @param {Period} span */
export function fromTo({ from, to }, span) {
  const isOpen = to >= span.to;
  const isLong = span.to - span.from > 2 * DAY_MS;
  const write = isLong ? day : clockTime;
  if (isOpen) return `since ${write(from)}`;
  return write(from) === write(to) ? write(from) : `${write(from)} to ${write(to)}`;
}
