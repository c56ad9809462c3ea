// @ts-check
// Two payloads of a store side by side: counts, prices, stock, added and removed products, and the JSON of
// one product.

import { pathOf, Refusal } from "../core/api.js";
import { address, link } from "../core/base.js";
import { bytes, count, plural, share, shortTime } from "../core/format.js";
import { html } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { setQuery } from "../core/router.js";
import { Icon } from "../parts/icon.js";
import { usePage } from "../parts/page.js";
import { Bones, Empty, Failure, PageHead } from "../parts/panel.js";
import { Figure, Strip } from "../parts/strip.js";
import { GONE } from "./payload-diff/gone.js";
import { Json } from "./payload-diff/json.js";
import { Options, Prices, Products, Stock } from "./payload-diff/tables.js";

/** @import { EventOf } from "../core/html.js" */
/** @import { PayloadDiff, PayloadView } from "../types/api" */

const CHOICES = 100;

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const [from, to] = [numberOf(query, "from"), numberOf(query, "to")];
  const one = to ?? from;
  const isKnown = numberOf(query, "store") !== null;
  const known = useResource(!isKnown && one !== null ? pathOf("/api/payloads/{id}", { id: one }) : null);
  const store = numberOf(query, "store") ?? known.data?.dispensary_id ?? null;
  const diff = useResource(store === null ? null : pathOf("/api/payloads/store/{id}/diff", { id: store, from, to }));
  const list = useResource(store === null ? null : pathOf("/api/payloads", { dispensary_id: store, limit: CHOICES }));
  usePage("Payload diff", known, diff, list);
  const name = list.data?.payloads[0]?.dispensary_name ?? (store === null ? "" : `store ${count(store)}`);
  const { data } = diff;
  const crumb = html`<a href=${link("/admin/payloads", { dispensary_id: store })}>Payloads</a>`;
  return html`<${PageHead} title="Payload diff" crumb=${crumb}
    scope=${store !== null && html`<a href=${link(`/admin/stores/${store}`)}><bdi>${name}</bdi></a>`}>
      ${data && html`<a class="btn"
        href=${link("/admin/payloads/diff", { ...Object.fromEntries(query), store, from: data.to.id, to: data.from.id })}>Swap</a>`}
      ${data && (from === null || to === null) &&
        html`<a class="btn" href=${link("/admin/payloads/diff", { store, from: data.from.id, to: data.to.id })}>Keep these two</a>`}
    </${PageHead}>
    ${store !== null && list.data &&
      html`<${Compared} payloads=${list.data.payloads} from=${data?.from.id ?? from} to=${data?.to.id ?? to} />`}
    ${data
      ? html`<${Differences} data=${data} store=${store} query=${query} payloads=${list.data?.payloads ?? []} />`
      : html`<${Undone} error=${diff.error ?? known.error} store=${store} loading=${diff.loading || known.loading}
          reload=${diff.reload} />`}`;
}

/** @param {URLSearchParams} query @param {string} name */
const numberOf = (query, name) => (/^\d{1,18}$/.test(query.get(name) ?? "") ? Number(query.get(name)) : null);

/** @param {{ payloads: PayloadView[], from: number | null, to: number | null }} properties */
const Compared = ({ payloads, from, to }) => html`<section class="panel panel-body" aria-label="Compared"><div class="versus">
  <${Choice} name="from" word="From" payloads=${payloads} chosen=${from} other=${{ to: to === null ? null : String(to) }} />
  <span class="dim not-phone"><${Icon} name="right" /></span>
  <${Choice} name="to" word="To" payloads=${payloads} chosen=${to} other=${{ from: from === null ? null : String(from) }} />
</div></section>`;

/**
 * @param {object} properties
 * @param {string} properties.name
 * @param {string} properties.word
 * @param {PayloadView[]} properties.payloads
 * @param {number | null} properties.chosen
 * @param {Record<string, string | null>} properties.other
 */
function Choice({ name, word, payloads, chosen, other }) {
  const payload = payloads.find(({ id }) => id === chosen);
  return html`<div class="field"><label for=${name}>${word}</label>
    <select id=${name} onChange=${(/** @type {EventOf<HTMLSelectElement>} */ event) =>
      setQuery({ ...other, [name]: event.target.value, product: null })}>
      ${chosen !== null && !payload && html`<option value=${String(chosen)} selected>${chosen}</option>`}
      ${chosen === null && html`<option value="" selected>none</option>`}
      ${payloads.map((each) => html`<option key=${each.id} value=${String(each.id)} selected=${each.id === chosen}>
        ${each.id} · ${shortTime(each.fetched_at)} · ${plural(each.product_count, "product")}</option>`)}
    </select>
    <small>${payload && html`<${Origin} of=${payload} />, `}
      ${chosen !== null &&
        html`<a class="link-wrap" href=${address(pathOf("/api/payloads/{id}/data", { id: chosen }))}
          download=${`payload-${chosen}.json`}>download</a>`}</small></div>`;
}

/** The task of a payload, and its size. @param {{ of: PayloadView }} properties */
function Origin({ of: { task_id: task, coverage, bytes: size } }) {
  const by = task === null ? "no task" : html`<a class="link-wrap" href=${link(`/admin/tasks/${task}`)}>task ${task}</a>`;
  return html`by ${by}, ${coverage >= 1 ? "complete" : `${share(coverage, 1)} of the menu`}, ${bytes(size)}`;
}

/** @param {{ data: PayloadDiff, store: number | null, query: URLSearchParams, payloads: PayloadView[] }} properties */
function Differences({ data, store, query, payloads }) {
  const { diff, details } = data;
  const changed = (/** @type {number} */ options, /** @type {number} */ products) =>
    (products === 0 ? "products" : `products, ${plural(options, "option")}`);
  const hasNone = diff.added + diff.removed + diff.priceChanges + diff.stockChanges + diff.optionChanges === 0;
  const shared = { store, query };
  return html`<${Strip} label="Differences">
      <${Figure} label="Added" value=${count(diff.added)}
        icon=${html`<span class="good"><${Icon} name="plus" /></span>`}
        scope=${`products, now ${count(data.to.productCount)}`} href="#added" />
      <${Figure} label="Removed" value=${count(diff.removed)}
        icon=${html`<span class="bad"><${Icon} name="minus" /></span>`}
        scope=${`products, before ${count(data.from.productCount)}`} href="#removed" />
      <${Figure} label="Prices" value=${count(diff.priceChanges)}
        scope=${changed(diff.optionsWithPriceChanges, diff.priceChanges)} href="#prices" />
      <${Figure} label="Stock" value=${count(diff.stockChanges)}
        scope=${changed(diff.optionsWithStockChanges, diff.stockChanges)} href="#stock" />
      <${Figure} label="Options" value=${count(diff.optionChanges)} scope="products that gained or lost one" href="#options" />
      <${Figure} label="Same" value=${count(diff.same)}
        scope=${`products, ${share(diff.same, diff.same + diff.added + diff.removed + changedProducts(data))} of both`} />
    </${Strip}>
    ${details.truncated && html`<p class="banner"><${Icon} name="warn" />The lists below are incomplete; the counts are complete.</p>`}
    ${hasNone
      ? html`<section class="panel" aria-labelledby="h-same"><h2 class="sr" id="h-same">No difference</h2>
          <${Empty} title="These two are the same">
            <p>All ${plural(diff.same, "product")} have the same prices, stock and options.</p></${Empty}></section>`
      : html`<div class="cols wide-left">
          <div class="stack"><${Prices} rows=${details.priceChanges} number=${diff.priceChanges} ...${shared} />
            <${Json} key=${`${data.from.id} ${data.to.id}`} data=${data} query=${query} payloads=${payloads} /></div>
          <div class="stack">
            <${Stock} rows=${details.stockChanges} number=${diff.stockChanges} ...${shared} />
            <${Products} kind="added" rows=${details.added} number=${diff.added} ...${shared} />
            <${Products} kind="removed" rows=${details.removed} number=${diff.removed} ...${shared} />
            <${Options} rows=${details.optionChanges} number=${diff.optionChanges} ...${shared} />
          </div>
        </div>`}`;
}

/** On both menus, and not the same: by the counts, as the lists may be cut. @param {PayloadDiff} data */
const changedProducts = ({ diff, to }) => Math.max(0, to.productCount - diff.added - diff.same);

/** @param {{ error: Refusal | null, store: number | null, loading: boolean, reload: () => unknown }} properties */
function Undone({ error, store, loading, reload }) {
  return html`<section class="panel" aria-labelledby="h-undone"><h2 class="sr" id="h-undone">Differences</h2>${undone()}</section>`;

  function undone() {
    if (loading) return html`<${Bones} />`;
    if (!error) return html`<${Empty} icon="search" title="Which payloads?">
      <p>Choose a store, or a payload from the list: its row links to what changed.</p>
      <a class="btn" href=${link("/admin/payloads")}>Payloads</a></${Empty}>`;
    const words = GONE[error.status];
    if (words) return html`<${Empty} icon="warn" title=${words}><p role="alert">${error.detail}</p></${Empty}>`;
    if (error.status === 404) return html`<${Empty} icon="search" title="These payloads cannot be compared">
      <p>${error.detail}</p><a class="btn" href=${link("/admin/payloads", { dispensary_id: store })}>Payloads</a></${Empty}>`;
    return html`<${Failure} error=${error} onRetry=${reload} what="The diff" />`;
  }
}
