// @ts-check
// A store's row.

import { link } from "../../core/base.js";
import { count, share } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { may } from "../../core/session.js";
import { EMPTY_MENUS, PLATFORMS } from "../../core/vocabulary.js";
import { crawlNow, hindranceOf } from "../../parts/crawl-now.js";
import { CrawlState, CrawlSwitch } from "../../parts/crawl-switch.js";
import { RowAction } from "../../parts/row-action.js";
import { Select } from "../../parts/selection.js";
import { Ago, Until } from "../../parts/time.js";

/** @import { Selection } from "../../parts/selection.js" */
/** @import { StoreView } from "../../types/api" */

/** @typedef {{ of: StoreView, isSelected: boolean, onSelect: Selection["toggle"] | null }} RowOf */

export const Row = memo((/** @type {RowOf} */ { of: store, isSelected, onSelect }) => {
  const page = `/admin/stores/${store.id}`;
  return html`<tr data-row class=${isSelected ? "is-selected" : ""}>
    ${onSelect && html`<${Select} id=${store.id} what=${store.name} isSelected=${isSelected} onSelect=${onSelect} />`}
    <th scope="row" class="key cut"><a href=${link(page)} title=${store.name}><bdi>${store.name}</bdi></a><br />
      <span class="scope">${store.id}${store.city && html` · <bdi>${store.city}</bdi>`}
        ${store.platform !== PLATFORMS[0] && ` · ${store.platform}`}</span></th>
    <td class="fact">${store.state}</td>
    <td class="end"><${CrawlState} of=${store} /><${Why} of=${store} /></td>
    <td class="num fact" data-l="complete"><${Ago} at=${store.last_complete_at} after="ago" /></td>
    <td class="num low" data-l="coverage">${coverageText(store.last_coverage)}</td>
    <td class="num fact" data-l="products"><a href=${`${link(page)}#products`}>${count(store.products)}</a></td>
    <td class="num fact" data-l="in stock"><a href=${`${link(page, { in_stock: true })}#products`}>${count(store.in_stock)}</a></td>
    <td class="line">${store.groups.map((group) => html`<a class="tag" href=${link("/admin/stores", { group })}>${group}</a> `)}</td>
    ${may("operator") && html`<td class="num fact act"><span class="row">
      ${hindranceOf(store)
        ? html`<${CrawlSwitch} of=${store} kind="small" />`
        : html`<${RowAction} action="Crawl now" of=${store.name} onClick=${() => crawlNow(store)} />
          <span class="not-phone"><${CrawlSwitch} of=${store} kind="small quiet" /></span>`}</span></td>`}
  </tr>`;
});

/** Why it is not crawled. @param {{ of: StoreView }} properties */
function Why({ of }) {
  if (!of.crawl_enabled) return of.disabled_reason && html`<br /><span class="scope">${of.disabled_reason}</span>`;
  if (of.crawl_status !== "empty_menu" && of.empty_menus > 0) return html`<br /><span class="scope">${of.empty_menus} of ${EMPTY_MENUS} menus in a row empty</span>`;
  if (of.crawl_status !== "needs_menu_id") return null;
  const next = of.lookup_next_at ? html`next try <${Until} at=${of.lookup_next_at} />` : "not tried again";
  return html`<br /><span class="scope">${of.lookup_error && html`<bdi>${of.lookup_error}</bdi>; `}${next}</span>`;
}

/** @param {number | null | undefined} coverage of the last crawl, 0 to 1 */
const coverageText = (coverage) => (typeof coverage === "number" ? share(coverage, 1) : html`<span class="dim">–</span>`);
