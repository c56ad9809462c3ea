// @ts-check
// One store: its current task, its last crawls, its facts, payloads and products.

import { pathOf } from "../core/api.js";
import { link } from "../core/base.js";
import { count, share } from "../core/format.js";
import { html, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { Actions } from "../parts/actions.js";
import { crawlNow, hindranceOf } from "../parts/crawl-now.js";
import { CrawlState, switchCrawls } from "../parts/crawl-switch.js";
import { Export } from "../parts/export.js";
import { usePage } from "../parts/page.js";
import { Pauses, usePauseAction, usePauses } from "../parts/pause.js";
import { Empty, Failure, Loaded, PageHead, Panel } from "../parts/panel.js";
import { CopyId } from "../parts/copy-id.js";
import { Figure, Strip } from "../parts/strip.js";
import { Ago } from "../parts/time.js";
import { Crawls, Now } from "./store/crawls.js";
import { deleteStore } from "./store/delete.js";
import { EditStore } from "./store/edit.js";
import { Elsewhere } from "./store/elsewhere.js";
import { Payloads } from "./store/payloads.js";
import { Products } from "./store/products.js";
import { Remedy } from "./store/remedy.js";

/** @import { Answer } from "../core/resource.js" */
/** @import { Dataset } from "../parts/export.js" */
/** @import { Refusal } from "../core/api.js" */
/** @import { Pause, StoreView } from "../types/api" */
/** @import { TaskEvent, Topic } from "../types/requests" */

/**
 * Options that keep answers about one store current.
 * @typedef {object} Live
 * @property {Topic[]} topics
 * @property {number} gap
 * @property {<T>(data: T, event: TaskEvent) => T | undefined} apply
 */

/** @type {[Dataset, string][]} */
const DATASETS = [["products", "Products"], ["options", "Options"], ["option_history", "History"]];
/** Maximum waiting tasks; a store hardly ever has more than two. */
const WAITING = 5;

/** @param {{ id: number, query: URLSearchParams }} properties */
export function Page({ id, query }) {
  // events of other stores change nothing here
  /** @type {Live["apply"]} */
  const apply = (data, event) => (event.dispensary_id === id ? undefined : data);
  /** @type {Live} */
  const live = { topics: ["task"], gap: 3_000, apply };
  const store = useResource(pathOf("/api/stores/{id}", { id }), live);
  const active = useResource(pathOf("/api/tasks/store/{id}/active", { id }), live);
  const pending = pathOf("/api/tasks", { dispensary_id: id, status: "pending", limit: WAITING });
  const waiting = useResource(pending, { ...live, gap: 5_000 });
  const pauses = usePauses().data?.pauses;
  usePage(store.data?.name ?? `Store ${id}`, store, active, waiting);
  if (!store.data && store.error) return html`<${Missing} id=${id} answer=${store} />`;
  return html`<${Head} id=${id} store=${store.data} pauses=${pauses} />
    <${Pauses} pauses=${pauses?.filter(({ scope, of }) => scope === "store" && of === String(id))} />
    ${store.data && html`<${Remedy} of=${store.data} />`}
    ${store.data ? html`<${Figures} of=${store.data} />` : html`<section class="panel strip loading" aria-busy="true"></section>`}
    <div class="cols wide-left">
      <div class="stack"><${Now} of=${active} waiting=${waiting.data?.tasks} store=${store.data} /><${Crawls} id=${id} live=${live} /></div>
      <div class="stack"><${Facts} of=${store} />
        ${store.data?.retailer_id && html`<${Elsewhere} retailer=${store.data.retailer_id} store=${id} />`}<${Payloads} id=${id} live=${live} /></div>
    </div>
    <${Products} id=${id} query=${query} store=${store.data} />`;
}

/** @param {{ id: number, store: StoreView | null, pauses: Pause[] | undefined }} properties */
function Head({ id, store, pauses }) {
  const crumb = html`<a href=${link("/admin/stores")}>Stores</a>`;
  const scope = store && html`${[store.city, store.state].filter(Boolean).join(", ")} · store ${id} <${CopyId} id=${id} what="store" />
    ${!store.crawl_enabled && store.disabled_reason && `, disabled: ${store.disabled_reason}`}`;
  return html`<${PageHead} title=${store?.name ?? `Store ${id}`} crumb=${crumb} scope=${scope}
    mark=${store && html`<${CrawlState} of=${store} />`}>
    ${store && html`<${Export} datasets=${DATASETS} of=${store.name} filters=${{ store: id }} />
      ${may("operator") && html`<${StoreActions} of=${store} pauses=${pauses} />`}`}
  </${PageHead}>`;
}

/** @param {{ of: StoreView, pauses: Pause[] | undefined }} properties */
function StoreActions({ of, pauses }) {
  const [isEdited, edit] = useState(false);
  const pause = usePauseAction({ scope: "store", of: String(of.id), name: of.name, pauses });
  const others = [
    pause,
    { word: "Edit…", of: of.name, onClick: () => edit(true) },
    { word: of.crawl_enabled ? "Disable…" : "Enable…", of: `the crawls of ${of.name}`, onClick: () => switchCrawls(of) },
    may("admin") && { word: "Delete…", of: of.name, onClick: () => deleteStore(of) },
  ].filter((action) => action !== false);
  return html`<${Actions} main=${{ word: "Crawl now", icon: "retrying", onClick: () => crawlNow(of), hindrance: hindranceOf(of) }} others=${others} />
    ${pause.form}${isEdited && html`<${EditStore} of=${of} onClose=${() => edit(false)} />`}`;
}

/** @param {{ of: StoreView }} properties */
function Figures({ of }) {
  const page = `/admin/stores/${of.id}`;
  const part = (/** @type {number} */ number) => (of.products > 0 ? `now, ${share(number, of.products)} of its products` : "now");
  return html`<${Strip} label="Now">
    <${Figure} label="Products" value=${count(of.products)} scope="known, with those sold out" href=${link(page)} />
    <${Figure} label="In stock" value=${count(of.in_stock)} scope=${part(of.in_stock)} href=${link(page, { in_stock: true })} />
    <${Figure} label="On special" value=${count(of.on_special)} scope=${part(of.on_special)} href=${link(page, { on_special: true })} />
    <${Figure} label="Coverage" value=${typeof of.last_coverage === "number" ? share(of.last_coverage, 1) : "–"}
      scope="of the menu, last payload" href=${link("/admin/payloads", { dispensary_id: of.id })} />
    <${Figure} label="Last full crawl" value=${of.last_complete_at ? html`<${Ago} at=${of.last_complete_at} after="ago" />` : "never"}
      scope="the whole menu was read" href=${link("/admin/payloads", { dispensary_id: of.id })} />
  </${Strip}>`;
}

/** @param {{ of: Answer<StoreView> }} properties */
function Facts({ of }) {
  return html`<${Panel} title="Store">
    <${Loaded} of=${of} what="The store">${(/** @type {StoreView} */ store) => html`<div class="panel-body"><dl class="facts">
      <dt>Platform</dt><dd>${store.platform}</dd>
      ${store.former_menus.map((menu) => html`<dt>Before</dt><dd>${menu.platform} <span class="mono">${menu.platform_dispensary_id}</span>,
        until <${Ago} at=${menu.replaced_at} after="ago" /></dd>`)}
      <dt>Upstream id</dt><dd class="mono">${store.platform_dispensary_id ?? "–"}</dd>
      <dt>Slug</dt><dd class="mono">${store.slug ?? "–"}</dd>
      <dt>Menu</dt><dd>${menu(store.menu_url)}</dd>
      <dt>Address</dt><dd><bdi>
        ${[store.address, store.city, [store.state, store.zip].filter(Boolean).join(" ")].filter(Boolean).join(", ") || "–"}</bdi></dd>
      ${store.phone && html`<dt>Phone</dt><dd>${store.phone}</dd>`}
      ${store.website && html`<dt>Website</dt><dd>${menu(store.website)}</dd>`}
      ${store.licences.length > 0 && html`<dt>Licences</dt><dd class="mono">${store.licences.join(", ")}</dd>`}
      <dt>Time zone</dt><dd>${store.timezone ?? (store.state ? `that of ${store.state}` : "–")}</dd>
      <dt>Sells</dt><dd>${sells(store)}</dd>
      <dt>Groups</dt><dd>${store.groups.length === 0
        ? "none"
        : store.groups.map((group) => html`<a class="tag" href=${link("/admin/stores", { group })}>${group}</a> `)}</dd>
      <dt>Last fetch</dt><dd><${Ago} at=${store.last_fetch_at} after="ago" /></dd>
      <dt>Last crawl</dt><dd><${Ago} at=${store.last_crawl_at} after="ago" /></dd>
      <dt>Last payload</dt><dd>
        ${(store.last_payload_id ?? null) === null
          ? "–"
          : html`<a class="link" href=${link("/admin/payloads", { id: store.last_payload_id })}>
              ${store.last_payload_id}</a>, <${Ago} at=${store.last_payload_at} after="ago" />`}</dd>
    </dl></div>`}</${Loaded}></${Panel}>`;
}

/** Makes a link only of an address that a browser opens as a page: it came from upstream. @param {string | null | undefined} url */
function menu(url) {
  if (!url) return "–";
  return /^https?:\/\//i.test(url)
    ? html`<a class="link-wrap" href=${url} target="_blank" rel="noreferrer noopener">${url}</a>`
    : html`<span class="mono">${url}</span>`;
}

/** @param {StoreView} store */
function sells({ is_recreational: recreational, is_medical: medical }) {
  if (typeof recreational !== "boolean" && typeof medical !== "boolean") return html`<span class="dim">not known</span>`;
  return [recreational && "recreational", medical && "medical"].filter(Boolean).join(" and ") || "neither";
}

/** @param {{ id: number, answer: Answer<StoreView> }} properties */
function Missing({ id, answer }) {
  const body =
    answer.error?.status === 404
      ? html`<${Empty} icon="search" title=${`There is no store ${id}`}>
          <a class="btn" href=${link("/admin/stores")}>All stores</a></${Empty}>`
      : html`<${Failure} error=${/** @type {Refusal} */ (answer.error)} onRetry=${answer.reload} what="The store" />`;
  return html`<${PageHead} title=${`Store ${id}`} crumb=${html`<a href=${link("/admin/stores")}>Stores</a>`} />
    <section class="panel" aria-labelledby="h-store"><h2 class="sr" id="h-store">Store</h2>${body}</section>`;
}
