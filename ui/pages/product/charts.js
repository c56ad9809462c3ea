// @ts-check
// Price and stock over time. Both are steps: a value lasts until the next crawl; a gap between crawls is
// hatched, and breaks the line.

import { clockTime, count, day, exactTime, money, plural, shortTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Chart, Dots, Key, Limit, ticksTo, timeAxis, WIDTH } from "../../parts/chart.js";
import { Panel } from "../../parts/panel.js";
import { isOnSale, paid, quantityText } from "../../parts/products.js";
import { Steps } from "../../parts/steps.js";
import { joined, periodsOf, shownPoints, stepsOf } from "./series.js";

/** @import { Period, Point, Series, Span } from "./series.js" */

const KINDS = ["c1", "c2", "c3 dash"];
/** The cap from which on the platform gives no exact quantity. */
const CAP = 25;
/** Share of the height that the words of one series need, in percent. */
const WORDS_HEIGHT = 16;
const LONGEST_NAME = 10;
const DAY_MS = 86_400_000;
/** Height of the bar of a sale, in percent: it may last all the time. */
const SALE_HEIGHT = 4;

/** @param {{ series: Series[], span: Span, period: string, hasGaps: boolean }} properties */
export function PriceChart({ series, span, period, hasGaps }) {
  const priced = series.filter((each) => shownPoints(each, span).some((point) => !point.gone && paid(point) !== null));
  if (priced.length === 0) return html`<${Panel} title="Price">
    <p class="panel-body dim">No crawl in this time range has a price.</p></${Panel}>`;
  const ticks = ticksTo(Math.max(...priced.flatMap((each) => shownPoints(each, span).map((point) => (paid(point) ?? 0) / 100))));
  const top = ticks[ticks.length - 1];
  const sales = joined(priced.flatMap((each) => periodsOf(each, span, isOnSale)));
  const market = priced.some((each) => each.points.some(({ price_rec }) => price_rec !== null)) ? "recreational" : "medical";
  const left = !hasGaps && "crawls that repeat the one before are left out, so a period without crawls does not show";
  return html`<section class="panel panel-body" aria-label="Price history">
    <${Chart} title="Price" from=${span.from} unit=${`US dollars, ${market}, what is paid, ${period}`} ticks=${ticks} height=${13} right=${5}
      axis=${timeAxis(span.from, span.to)} label=${sentenceOf(priced, span, sales, period)}
      legend=${html`<${Legend} series=${priced} sales=${sales} span=${span} />`}
      words=${html`<${Gaps} span=${span} />
        ${spread(priced, top).map(({ name, price, at, kind }) =>
          html`<span class=${`mark-at ${kind}`} style=${{ "--at": at }}><bdi>${short(name)}</bdi><br />${price}</span>`)}`}>
      ${sales.map((sale) => html`<rect class="bar sale" x=${x(sale.from, span)} y=${100 - SALE_HEIGHT}
        width=${Math.max(1, x(sale.to, span) - x(sale.from, span))} height=${SALE_HEIGHT} />`)}
      ${priced.map((each, at) =>
        html`<${Steps} key=${each.key} points=${stepsOf(each, span, (point) => dollars(paid(point)))} top=${top} kind=${KINDS[at]} />`)}
      ${priced.map((each, at) => html`<${Dots} key=${each.key} top=${top} kind=${KINDS[at]}
        points=${crawlsOf(each, span, (point) => dollars(paid(point)), (point) => `${each.name} ${money(paid(point))}`)} />`)}
    </${Chart}>
    ${(left || series.some(({ truncated }) => truncated)) &&
      html`<p class="scope">${[
        left,
        series.some(({ truncated }) => truncated) && "the oldest crawls are missing: there are more than can be read at once",
      ].filter(Boolean).join("; ")}</p>`}
  </section>`;
}

/** @param {{ series: Series[], sales: Period[], span: Span }} properties */
const Legend = ({ series, sales, span }) => html`
  ${series.map((each, at) => html`<${Key} key=${each.key} kind=${KINDS[at].split(" ")[0]}><bdi>${each.name}</bdi></${Key}>`)}
  ${sales.length > 0 && html`<${Key} kind="c3 sale-key" box=${true}>
    ${sales.length === 1
      ? `sale, ${fromTo(sales[0], span)}`
      : `${plural(sales.length, "sale")}, the last ${fromTo(sales[sales.length - 1], span)}`}</${Key}>`}
  ${span.gaps.length > 0 &&
    html`<span><i class="gap"></i>no crawl saw it, ${span.gaps.length === 1
      ? fromTo(span.gaps[0], span)
      : `${count(span.gaps.length)} times, the last ${fromTo(span.gaps[span.gaps.length - 1], span)}`}</span>`}`;

/** @param {{ span: Span }} properties */
const Gaps = ({ span }) =>
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
const crawlsOf = (series, span, valueOf, textOf) =>
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

/** Positions of the words at the lines' ends, so that they do not overlap. @param {Series[]} series @param {number} top */
function spread(series, top) {
  const marks = series.flatMap((each, at) => {
    const last = each.points[each.points.length - 1];
    const cents = last && !last.gone ? paid(last) : null;
    return cents === null ? [] : [{ name: each.name, price: money(cents), at: cents / top, kind: KINDS[at].split(" ")[0] }];
  });
  marks.sort((a, b) => a.at - b.at);
  marks.forEach((mark, at) => {
    if (at > 0) mark.at = Math.max(mark.at, marks[at - 1].at + WORDS_HEIGHT);
  });
  return marks;
}

/** @param {Series[]} series @param {Span} span @param {Period[]} sales @param {string} period */
function sentenceOf(series, span, sales, period) {
  const words = series.map((one) => {
    const prices = shownPoints(one, span).filter(({ gone }) => !gone).map(paid).filter((cents) => cents !== null);
    if (prices.length === 0) return "";
    return `${one.name}: from ${money(Math.min(...prices))} to ${money(Math.max(...prices))}, now ${money(prices[prices.length - 1])}.`;
  });
  const gaps = span.gaps.length > 0
    ? ` No crawl saw it ${plural(span.gaps.length, "time")}, the last ${fromTo(span.gaps[span.gaps.length - 1], span)}.`
    : "";
  const onSale = sales.length > 0 ? `On sale ${plural(sales.length, "time")}.` : "No sale.";
  return `Prices of ${plural(series.length, "option")}, ${period}. ${words.join(" ")} ${onSale}${gaps}`;
}

/** @param {number | null} cents */
const dollars = (cents) => (cents === null ? null : cents / 100);
/** @param {number} time @param {Period} span */
const percent = (time, span) => (100 * (time - span.from)) / (span.to - span.from);
/** @param {number} time @param {Period} span */
const x = (time, span) => (WIDTH * percent(time, span)) / 100;
/** @param {string} name */
const short = (name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name);

/** `6 to 9 Nov`, or times of day within one. @param {Period} period @param {Period} span */
function fromTo({ from, to }, span) {
  const isOpen = to >= span.to;
  const isLong = span.to - span.from > 2 * DAY_MS;
  const write = isLong ? day : clockTime;
  if (isOpen) return `since ${write(from)}`;
  return write(from) === write(to) ? write(from) : `${write(from)} to ${write(to)}`;
}
