// @ts-check
// The price over time: steps, of which each lasts until the next crawl. A period in which the option is out of stock is
// dotted, one that no crawl saw is hatched and breaks the line, and a special is a bar below it.

import { count, plural, shortTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { setQuery } from "../../core/router.js";
import { Chart, Dots, Key, ticksTo, timeAxis } from "../../parts/chart.js";
import { Panel } from "../../parts/panel.js";
import { isOnSale } from "../../parts/products.js";
import { Steps } from "../../parts/steps.js";
import { crawlsOf, fromTo, Gaps, KINDS, x } from "./charts.js";
import { measureOf, measuresOf } from "./measure.js";
import { periodsOf, shownPoints, stepsOf } from "./series.js";
import { Values } from "./values.js";

/** @import { EventOf } from "../../core/html.js" */
/** @import { Measure } from "./measure.js" */
/** @import { Series, Span } from "./series.js" */

/** Share of the height that the words of one series need, in percent. */
const WORDS_HEIGHT = 16;
const LONGEST_NAME = 10;
/** Height of the bar of a special, in percent: it may last all the time. */
const SALE_HEIGHT = 4;

/** @param {{ series: Series[], span: Span, period: string, hasGaps: boolean, query: URLSearchParams }} properties */
export function PriceChart({ series, span, period, hasGaps, query }) {
  const measure = measureOf(series, query);
  const priced = series.filter((each) => shownPoints(each, span).some((point) => !point.gone && measure.of(point) !== null));
  if (priced.length === 0) return html`<${Panel} title="Price" more=${html`<${Choice} series=${series} measure=${measure} />`}>
    <p class="panel-body dim">No crawl in this time range has a price.</p></${Panel}>`;
  const ticks = ticksTo(Math.max(...priced.flatMap((each) => shownPoints(each, span).map((point) => measure.of(point) ?? 0))));
  const top = ticks[ticks.length - 1];
  const market = priced.some((each) => each.points.some(({ price_rec }) => price_rec !== null)) ? "recreational" : "medical";
  const notes = [
    !hasGaps && "crawls that repeat the one before are left out, so a period without crawls does not show",
    series.some(({ truncated }) => truncated) && "the oldest crawls are missing: there are more than can be read at once",
  ].filter(Boolean);
  return html`<section class="panel panel-body" aria-label="Price history">
    <${Chart} title="Price" from=${span.from} ticks=${ticks} height=${13} right=${5}
      unit=${html`<${Choice} series=${series} measure=${measure} /> ${measure.unit}, ${market}, what is paid, ${period}`}
      axis=${timeAxis(span.from, span.to)} label=${sentenceOf(priced, span, period, measure)}
      legend=${html`<${Legend} series=${priced} span=${span} />`}
      words=${html`<${Gaps} span=${span} />
        ${spread(priced, top, measure).map(({ name, price, at, kind }) =>
          html`<span class=${`mark-at ${kind}`} style=${{ "--at": at }}><bdi>${short(name)}</bdi><br />${price}</span>`)}`}>
      ${priced.map((each, at) => html`<${Lines} key=${each.key} of=${each} at=${at} span=${span} top=${top} measure=${measure} />`)}
    </${Chart}>
    ${notes.length > 0 && html`<p class="scope">${notes.join("; ")}</p>`}
    <${Values} series=${priced} span=${span} measure=${measure} />
  </section>`;
}

/** @param {{ series: Series[], measure: Measure }} properties */
function Choice({ series, measure }) {
  const measures = measuresOf(series);
  if (measures.length < 2) return null;
  return html`<select aria-label="Price of" onChange=${(/** @type {EventOf<HTMLSelectElement>} */ event) => setQuery({ unit: event.target.value })}>
    ${measures.map(({ name, word }) => html`<option key=${name} value=${name} selected=${name === measure.name}>${word}</option>`)}</select>`;
}

/** @param {{ of: Series, at: number, span: Span, top: number, measure: Measure }} properties */
function Lines({ of, at, span, top, measure }) {
  const kind = KINDS[at];
  const inStock = stepsOf(of, span, (point) => (point.is_in_stock ? measure.of(point) : null));
  const outOfStock = stepsOf(of, span, (point) => (point.is_in_stock ? null : measure.of(point)));
  return html`${periodsOf(of, span, isOnSale).map((sale) => html`<rect class=${`bar sale ${kind}`} x=${x(sale.from, span)}
      y=${100 - SALE_HEIGHT * (at + 1)} width=${Math.max(1, x(sale.to, span) - x(sale.from, span))} height=${SALE_HEIGHT} />`)}
    <${Steps} points=${inStock} top=${top} kind=${kind} />
    <${Steps} points=${outOfStock} top=${top} kind=${`${kind} out`} />
    <${Dots} top=${top} kind=${kind} points=${crawlsOf(of, span, measure.of, (point) => `${of.name} ${measure.text(measure.of(point))}`)} />`;
}

/** @param {{ series: Series[], span: Span }} properties */
function Legend({ series, span }) {
  const isOut = series.some((each) => periodsOf(each, span, (point) => !point.is_in_stock).length > 0);
  return html`${series.map((each, at) => html`<${Key} key=${each.key} kind=${KINDS[at].split(" ")[0]}><bdi>${each.name}</bdi></${Key}>
      ${specialText(each, span) && html`<${Key} kind=${`${KINDS[at].split(" ")[0]} sale-key`} box=${true}>${specialText(each, span)}</${Key}>`}`)}
    ${isOut && html`<span><i class="dotted"></i>out of stock</span>`}
    ${span.gaps.length > 0 &&
      html`<span><i class="gap"></i>no crawl saw it, ${span.gaps.length === 1
        ? fromTo(span.gaps[0], span)
        : `${count(span.gaps.length)} times, the last ${fromTo(span.gaps[span.gaps.length - 1], span)}`}</span>`}`;
}

/** @param {Series} series @param {Span} span */
function specialText(series, span) {
  const sales = periodsOf(series, span, isOnSale);
  if (sales.length === 0) return "";
  const last = fromTo(sales[sales.length - 1], span);
  return sales.length === 1 ? `special, ${last}` : `${plural(sales.length, "special")}, the last ${last}`;
}

/** Positions of the words at the lines' ends, so that they do not overlap. @param {Series[]} series @param {number} top @param {Measure} measure */
function spread(series, top, measure) {
  const marks = series.flatMap((each, at) => {
    const last = each.points[each.points.length - 1];
    const value = last && !last.gone ? measure.of(last) : null;
    return value === null ? [] : [{ name: each.name, price: measure.text(value), at: (100 * value) / top, kind: KINDS[at].split(" ")[0] }];
  });
  marks.sort((a, b) => a.at - b.at);
  marks.forEach((mark, at) => {
    if (at > 0) mark.at = Math.max(mark.at, marks[at - 1].at + WORDS_HEIGHT);
  });
  return marks;
}

/** @param {Series[]} series @param {Span} span @param {string} period @param {Measure} measure */
function sentenceOf(series, span, period, measure) {
  const words = series.map((one) => {
    const points = shownPoints(one, span).filter(({ gone }) => !gone);
    const prices = points.map(measure.of).filter((value) => value !== null);
    if (prices.length === 0) return "";
    const last = points[points.length - 1];
    const stock = last.is_in_stock ? "" : `, out of stock since ${sinceText(one, span)}`;
    const special = specialText(one, span) || "no special";
    return `${one.name}: from ${measure.text(Math.min(...prices))} to ${measure.text(Math.max(...prices))}, now ${
      measure.text(prices[prices.length - 1])}, ${special}${stock}.`;
  });
  const gaps = span.gaps.length > 0
    ? ` No crawl saw it ${plural(span.gaps.length, "time")}, the last ${fromTo(span.gaps[span.gaps.length - 1], span)}.`
    : "";
  return `Prices of ${plural(series.length, "option")} in ${measure.unit}, ${period}. ${words.join(" ")}${gaps}`;
}

/** @param {Series} series @param {Span} span */
function sinceText(series, span) {
  const periods = periodsOf(series, span, (point) => !point.is_in_stock);
  return shortTime(periods[periods.length - 1]?.from ?? span.from);
}

/** @param {string} name */
const short = (name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name);
