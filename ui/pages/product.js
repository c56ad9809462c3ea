// @ts-check
// One product: the current price of each option, and price and stock over time.

import { get, pathOf, Refusal } from "../core/api.js";
import { link } from "../core/base.js";
import { now } from "../core/clock.js";
import { plural, shortTime } from "../core/format.js";
import { html, useMemo, useRef } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { setQuery } from "../core/router.js";
import { CopyId } from "../parts/copy-id.js";
import { usePage } from "../parts/page.js";
import { Bones, Empty, Failure, Loaded, PageHead } from "../parts/panel.js";
import { Status } from "../parts/status.js";
import { stockText } from "../parts/products.js";
import { refusalText, toast } from "../parts/toast.js";
import { Changes } from "./product/changes.js";
import { StockCharts } from "./product/charts.js";
import { Facts } from "./product/facts.js";
import { Figures } from "./product/figures.js";
import { PriceChart } from "./product/price.js";
import { csvOf, gapsOf, optionName, seriesOf } from "./product/series.js";

/** @import { EventOf } from "../core/html.js" */
/** @import { Answer, Options } from "../core/resource.js" */
/** @import { OptionView, ProductDetail, ProductHistory } from "../types/api" */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Minimum time of a chart. */
const MIN_SHOWN_MS = 600_000;
const RANGES = [1, 7, 30, 90];
const DEFAULT_RANGE = 30;
/** Maximum points of a chart, which is not wider; 90 days with six crawls each fit. */
const POINTS = 600;
/** Maximum series in one chart. */
const TOGETHER = 3;

/** @param {{ id: number, query: URLSearchParams }} properties */
export function Page({ id, query }) {
  const days = RANGES.find((each) => String(each) === query.get("range")) ?? DEFAULT_RANGE;
  const answer = useResource(pathOf("/api/products/{id}", { id }), { topics: ["rollups"], gap: 15_000 });
  const product = answer.data;
  const from = useMemo(() => Math.floor((now() - days * DAY_MS) / HOUR_MS) * HOUR_MS, [days]);
  const groups = groupsOf(product?.options ?? []);
  const group = Math.min(groups.length - 1, Math.max(0, Number(query.get("group")) || 0));
  const only = /^\d{1,3}$/.test(query.get("option") ?? "") ? product?.options[Number(query.get("option"))] : undefined;
  const histories = useHistories(id, from, product && (only ? [only] : groups[group]));
  const all = useTogether(histories);
  usePage(product?.name ?? `Product ${id}`, answer, ...histories);
  if (!product) return html`<${Missing} id=${id} answer=${answer} />`;
  return html`<${Head} product=${product} days=${days} from=${from} only=${only} />
    <${Loaded} of=${all} what="The history">${(/** @type {ProductHistory[]} */ data) => {
      const shown = shownOf(product, data, from);
      const words = shown.since ?? plural(days, "day");
      return html`<${Figures} product=${product} series=${shown.series} span=${shown.span} period=${words} />
        <div class="cols wide-left">
          <div class="stack">
            ${!only && html`<${Groups} groups=${groups} group=${group} id=${id} query=${query} />`}
            <${PriceChart} series=${shown.series} span=${shown.span} period=${words} hasGaps=${shown.hasGaps} query=${query} />
            <${StockCharts} series=${shown.series} span=${shown.span} period=${words} />
          </div>
          <div class="stack"><${Facts} product=${product} />
            <${Changes} series=${shown.series} span=${shown.span} query=${query} period=${words} /></div>
        </div>`;
    }}</${Loaded}>`;
}

/**
 * The series to show, over the whole chosen time, and since when there is data: none before the product was first seen, nor before
 * the first crawl that is kept.
 * @param {ProductDetail} product
 * @param {ProductHistory[]} data
 * @param {number} from
 */
function shownOf(product, data, from) {
  const series = data.map(seriesOf);
  const end = Date.parse(data[0].to);
  const seen = Date.parse(product.first_seen_at);
  const first = Math.min(...series.flatMap(({ points }) => points.slice(0, 1).map(({ time }) => time)));
  const kept = Number.isFinite(first) ? Math.max(seen, first) : seen;
  const begin = Math.max(from, Math.min(kept, end - MIN_SHOWN_MS));
  const gaps = gapsOf(data[0], begin, end);
  const since = kept > seen ? `since ${shortTime(begin)}` : "since it was first seen";
  return { series, span: { from: Math.min(from, begin), to: end, gaps: gaps ?? [] }, since: begin > from ? since : null, hasGaps: gaps !== null };
}

/** @param {OptionView[]} options @returns {OptionView[][]} at least one, by threes */
function groupsOf(options) {
  const groups = [];
  for (let at = 0; at < options.length; at += TOGETHER) groups.push(options.slice(at, at + TOGETHER));
  return groups.length ? groups : [[]];
}

/**
 * The histories of up to three options, or of the product itself without options.
 * @param {number} id
 * @param {number} from
 * @param {OptionView[] | null} options null: not known yet
 */
function useHistories(id, from, options) {
  const path = (/** @type {number} */ at) => {
    if (!options || (at >= options.length && at > 0)) return null;
    return historyPath(id, from, options[at]);
  };
  /** @type {Options<ProductHistory>} */
  const live = { topics: ["rollups"], gap: 30_000 };
  const answers = [useResource(path(0), live), useResource(path(1), live), useResource(path(2), live)];
  return answers.slice(0, Math.max(1, options?.length ?? 1));
}

/** @param {number} id @param {number} from @param {OptionView} [option] */
const historyPath = (id, from, option) =>
  pathOf("/api/products/{id}/history", {
    id,
    from: new Date(from).toISOString(),
    points: POINTS,
    option: option?.option_label,
    nth: option?.nth,
  });

/** Combines several answers into one. @template T @param {Answer<T>[]} answers @returns {Answer<T[]>} */
function useTogether(answers) {
  const last = useRef(/** @type {T[] | null} */ (null));
  const read = answers.flatMap(({ data }) => (data === null ? [] : [data]));
  const isThere = read.length === answers.length;
  if (isThere) last.current = read;
  return {
    data: isThere ? last.current : null,
    error: answers.find(({ error }) => error)?.error ?? null,
    loading: !isThere,
    reload: async () => void (await Promise.all(answers.map(({ reload }) => reload()))),
  };
}

/** @param {{ product: ProductDetail, days: number, from: number, only: OptionView | undefined }} properties */
function Head({ product, days, from, only }) {
  const mark = product.is_in_stock
    ? html`<${Status} kind="done" icon="done" word="In stock" />`
    : html`<${Status} kind="off" icon="off" word=${stockText(product) === "sold out" ? "Sold out" : stockText(product)} />`;
  const scope = html`${product.brand?.trim() &&
    html`<bdi>${product.brand}</bdi>, `}at <a href=${link(`/admin/stores/${product.dispensary_id}`)}>
      <bdi>${product.dispensary_name}</bdi></a>`;
  return html`<${PageHead} title=${product.name} crumb=${html`<a href=${link("/admin/products")}>Products</a>`} mark=${html`<${CopyId} id=${product.id} what="product" />${mark}`} scope=${scope}>
    ${product.options.length > 1 && html`<${Chooser} options=${product.options} only=${only} />`}
    <label class="sr" for="range">Range</label>
    <select id="range" onChange=${(/** @type {EventOf<HTMLSelectElement>} */ event) =>
      setQuery({ range: event.target.value === String(DEFAULT_RANGE) ? null : event.target.value })}>
      ${RANGES.map((each) => html`<option value=${String(each)} selected=${each === days}>
        ${plural(each, "day")}</option>`)}
    </select>
    <button class="btn" type="button" onClick=${() => download(product, from)}>Numbers as CSV</button>
  </${PageHead}>`;
}

/** Selects one option alone. @param {{ options: OptionView[], only: OptionView | undefined }} properties */
const Chooser = ({ options, only }) => html`<select aria-label="Option" onChange=${(/** @type {EventOf<HTMLSelectElement>} */ event) =>
    setQuery({ option: event.target.value })}>
  <option value="" selected=${!only}>${options.length > TOGETHER ? `By ${TOGETHER} options` : "All options"}</option>
  ${options.map((option, at) => html`<option key=${at} value=${String(at)} selected=${option === only}>${optionName(option)}</option>`)}</select>`;

/** The facts about all options, whichever are shown. @param {ProductDetail} product @param {number} from */
async function download(product, from) {
  try {
    const series = [];
    for (const option of product.options.length ? product.options : [undefined]) {
      series.push(seriesOf(await get(historyPath(product.id, from, option))));
    }
    const address = URL.createObjectURL(new Blob([csvOf(series)], { type: "text/csv" }));
    const anchor = Object.assign(document.createElement("a"), { href: address, download: `product-${product.id}.csv` });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    toast("good", `The numbers of ${product.name} are in product-${product.id}.csv.`);
  } catch (error) {
    toast("bad", refusalText(error));
  }
}

/**
 * Selects the options to show, if there are more than fit one chart.
 * @param {{ groups: OptionView[][], group: number, id: number, query: URLSearchParams }} properties
 */
function Groups({ groups, group, id, query }) {
  if (groups.length === 1) return null;
  const others = Object.fromEntries([...query].filter(([name]) => !["group", "changes"].includes(name)));
  return html`<nav class="tabs" aria-label="Options that are shown">
    ${groups.map((options, at) => html`<a key=${at} href=${link(`/admin/products/${id}`, { ...others, group: at || null })}
      aria-current=${at === group ? "true" : undefined}><bdi>${options.map(optionName).join(", ")}</bdi></a>`)}</nav>`;
}

/** @param {{ id: number, answer: Answer<ProductDetail> }} properties */
function Missing({ id, answer }) {
  const { error } = answer;
  return html`<${PageHead} title=${`Product ${id}`} crumb=${html`<a href=${link("/admin/products")}>Products</a>`} />
    <section class="panel" aria-labelledby="h-product"><h2 class="sr" id="h-product">Product</h2>${
      !(error instanceof Refusal)
        ? html`<${Bones} />`
        : error.status === 404
          ? html`<${Empty} icon="search" title=${`There is no product ${id}`}>
              <a class="btn" href=${link("/admin/products")}>Search products</a></${Empty}>`
          : html`<${Failure} error=${error} onRetry=${answer.reload} what="The product" />`
    }</section>`;
}
