// @ts-check
// Stores with faulty data: blind stores, halved menus, products without prices, unknown keys. Empty when all
// is well.

import { pathOf } from "../../core/api.js";
import { link } from "../../core/base.js";
import { count } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { Panel } from "../../parts/panel.js";
import { Ago } from "../../parts/time.js";

const SHOWN = 6;

/** @import { Finding } from "../../types/api" */

export function Quality() {
  const { data } = useResource(pathOf("/api/quality", { limit: SHOWN }), { topics: ["quality"], gap: 5_000 });
  if (!data?.findings.length) return null;
  const { counts, findings } = data;
  const all = counts.reduce((sum, { stores }) => sum + stores, 0);
  return html`<${Panel} title="Faulty data" scope=${all > findings.length ? `the latest ${findings.length} of ${count(all)}` : "by store"}>
    <table class="table fold">
      <thead><tr><th>Store</th><th class="num">Since</th></tr></thead>
      <tbody>${findings.map((finding) => html`<${Row} key=${finding.id} of=${finding} />`)}</tbody>
    </table>
  </${Panel}>`;
}

const Row = memo((/** @type {{ of: Finding }} */ { of: finding }) => html`<tr data-row>
  <th scope="row" class="key">
    <a href=${link(`/admin/stores/${finding.dispensary_id}`)}><bdi>${finding.dispensary_name}</bdi></a><br />
    <span class="scope">${finding.kind.replaceAll("_", " ")} · ${finding.detail}</span></th>
  <td class="num end nowrap"><${Ago} at=${finding.since} /></td>
</tr>`);
