// @ts-check
// A rule of changes in words.

import { pathOf } from "../../core/api.js";
import { link } from "../../core/base.js";
import { duration, money } from "../../core/format.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { MILLICENTS } from "../../parts/products.js";
import { kindText } from "./words.js";

/** @import { ChangeRule } from "../../types/api" */

/** @param {{ of: ChangeRule }} properties */
export const KindsText = ({ of: { kinds } }) => kinds.map((kind) => kindText(kind).toLowerCase()).join(", ");

/** Its filters, each behind a comma. @param {{ of: ChangeRule }} properties */
export const FilterText = ({ of: rule }) => html`
  ${typeof rule.min_percent === "number" && `, at least ${rule.min_percent} %`}
  ${typeof rule.min_cents === "number" && `, by at least ${money(rule.min_cents)}`}
  ${typeof rule.max_price === "number" && `, to at most ${money(rule.max_price)}`}
  ${typeof rule.max_unit_price === "number" && `, to at most ${money(rule.max_unit_price / MILLICENTS)} a gram`}
  ${rule.category && html`, category <bdi>${rule.category}</bdi>`}
  ${rule.brand && html`, brand <bdi>${rule.brand}</bdi>`}
  ${typeof rule.product_id === "number" && html`, <${ProductName} id=${rule.product_id} />`}
  ${typeof rule.store_id === "number" && html`, at <${StoreName} id=${rule.store_id} />`}
  ${rule.group_name && html`, stores of <bdi>${rule.group_name}</bdi>`}
  ${rule.state && `, in ${rule.state}`}
  ${rule.quiet_minutes > 0 && `; a product once in ${duration(rule.quiet_minutes * 60)}`}`;

/** @param {{ id: number }} properties */
function StoreName({ id }) {
  const { data } = useResource(pathOf("/api/stores/{id}", { id }));
  return html`<a href=${link(`/admin/stores/${id}`)}><bdi>${data?.name ?? `store ${id}`}</bdi></a>`;
}

/** @param {{ id: number }} properties */
function ProductName({ id }) {
  const { data } = useResource(pathOf("/api/products/{id}", { id }));
  return html`<a href=${link(`/admin/products/${id}`)}><bdi>${data?.name ?? `product ${id}`}</bdi></a>`;
}
