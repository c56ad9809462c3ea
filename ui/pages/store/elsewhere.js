// @ts-check
// The retailer of a store, and its menus on other platforms.

import { pathOf } from "../../core/api.js";
import { link } from "../../core/base.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { Loaded, Panel } from "../../parts/panel.js";
import { StoreLine } from "../retailers/store-line.js";

/** @import { Data } from "../../types/requests" */

/** @param {{ retailer: number, store: number }} properties */
export function Elsewhere({ retailer, store }) {
  const answer = useResource(pathOf("/api/retailers/{id}", { id: retailer }), { topics: ["rollups"], gap: 30_000 });
  return html`<${Panel} title="Elsewhere" scope="menus of the same retailer">
    <${Loaded} of=${answer} what="The retailer">${(/** @type {Data<typeof answer>} */ { name, stores }) => html`<div class="panel-body">
      <p><a class="link" href=${link("/admin/retailers", { q: name })}><bdi>${name}</bdi></a></p>
      ${stores.filter(({ id }) => id !== store).map((other) => html`<${StoreLine} key=${other.id} of=${other} />`)}</div>`}</${Loaded}>
  </${Panel}>`;
}
