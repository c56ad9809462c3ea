// @ts-check
// The last payloads of a store, each with its changes since the one before.

import { pathOf } from "../../core/api.js";
import { link } from "../../core/base.js";
import { bytes, count, share } from "../../core/format.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { useSteadyRows, Waiting } from "../../parts/rows.js";
import { Ago } from "../../parts/time.js";

/** @import { PayloadView } from "../../types/api" */
/** @import { Data } from "../../types/requests" */
/** @import { Live } from "../store.js" */

const SHOWN = 5;

/** @param {{ id: number, live: Live }} properties */
export function Payloads({ id, live }) {
  // one more than is shown: the last row is compared with it
  const answer = useResource(pathOf("/api/payloads", { dispensary_id: id, limit: SHOWN + 1 }), { ...live, gap: 10_000 });
  const more = html`<a class="more" href=${link("/admin/payloads", { dispensary_id: id })}>All</a>`;
  return html`<${Panel} title="Payloads" scope=${`the newest ${count(SHOWN)}`} more=${more}>
    <${Loaded} of=${answer} what="The list of payloads">${(/** @type {Data<typeof answer>} */ data) =>
      data.payloads.length === 0
        ? html`<${Empty} icon="pending" title="No payload is kept"><p>A complete crawl leaves one.</p></${Empty}>`
        : html`<${Table} id=${id} payloads=${data.payloads} />`}</${Loaded}></${Panel}>`;
}

/** @param {{ id: number, payloads: PayloadView[] }} properties */
function Table({ id, payloads }) {
  const pairs = payloads.map((payload, at) => ({ payload, before: payloads[at + 1] ?? null })).slice(0, SHOWN);
  const steady = useSteadyRows(pairs, ({ payload }) => payload.id);
  return html`<table class="table fold" ...${steady.hold}>
      <thead><tr><th scope="col">Payload</th><th scope="col" class="num">Products</th>
        <th scope="col" class="num">Size</th><th scope="col" class="num">Changes</th></tr></thead>
      <tbody>${steady.rows.map(({ payload, before }) => html`<tr key=${payload.id} data-row>
        <th scope="row" class="key"><a href=${link("/admin/payloads", { id: payload.id })}>${payload.id}</a>
          <br /><span class="scope"><${Ago} at=${payload.fetched_at} after="ago" /></span></th>
        <td class="num fact" data-l="products">${count(payload.product_count)}
          ${payload.coverage < 1 && html`<br /><span class="scope">${share(payload.coverage, 1)}</span>`}</td>
        <td class="num fact" data-l="size">${bytes(payload.bytes)}</td>
        <td class="num end">${before &&
          html`<a class="link" href=${link("/admin/payloads/diff", { store: id, from: before.id, to: payload.id })}
            aria-label=${`Diff of payloads ${before.id} and ${payload.id}`}>Diff</a>`}</td>
      </tr>`)}</tbody>
    </table><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />`;
}
