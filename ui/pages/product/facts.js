// @ts-check
// Facts about a product, and its origin.

import { link } from "../../core/base.js";
import { count, plural, sentence } from "../../core/format.js";
import { html } from "../../core/html.js";
import { StoredImage } from "../../parts/image.js";
import { Panel } from "../../parts/panel.js";
import { Ago } from "../../parts/time.js";

/** @import { ProductDetail } from "../../types/api" */

const UNITS = { PERCENTAGE: "%", MILLIGRAMS: "mg", MILLIGRAMS_PER_GRAM: "mg/g", MILLIGRAMS_PER_ML: "mg/ml" };
const amount = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const SMALLEST = 0.1;
/** Pixels. */
const IMAGE = 240;
const LOGO = 24;

/** @param {{ product: ProductDetail }} properties */
export function Facts({ product }) {
  const brand = product.brand?.trim();
  const misses = product.consecutive_misses;
  const diff = link("/admin/payloads/diff", { store: product.dispensary_id });
  return html`<${Panel} title="Product">
    <div class="panel-body"><${StoredImage} path=${product.local_image_path} size=${IMAGE} /><dl class="facts">
      <dt>Brand</dt><dd><${StoredImage} path=${product.local_brand_image_path} size=${LOGO} />
        ${brand
          ? html`<a class="link-wrap" href=${link(`/admin/stores/${product.dispensary_id}`, { brand })}><bdi>${brand}</bdi></a>`
          : "–"}</dd>
      <dt>Category</dt><dd><bdi>
        ${[product.category, product.subcategory, product.strain_type?.toLowerCase()].filter(Boolean).join(", ") || "–"}</bdi></dd>
      <dt>Potency</dt><dd>${potency(product)}</dd>
      ${Attributes(product.attributes)}
      <dt>Store</dt><dd><a class="link-wrap" href=${link(`/admin/stores/${product.dispensary_id}`)}>
        <bdi>${product.dispensary_name}</bdi></a> ${[product.city, product.state].filter(Boolean).join(", ")}</dd>
      <dt>Elsewhere</dt><dd><a class="link" href=${link("/admin/products", { q: product.name })}>Search this name</a></dd>
      <dt>First seen</dt><dd><${Ago} at=${product.first_seen_at} after="ago" /></dd>
      <dt>Last seen</dt><dd><${Ago} at=${product.last_seen_at} after="ago" />, <a class="link" href=${diff}>last diff of the store</a></dd>
      ${misses > 0 &&
        html`<dt>Missed</dt><dd>by the last ${misses === 1 ? "crawl" : `${count(misses)} crawls`} of the store</dd>`}
      <dt>Upstream</dt><dd>${sentence(product.upstream_status ?? "–")}</dd>
      <dt>Upstream id</dt><dd class="mono">${product.provider_product_id}</dd>
      ${product.enterprise_product_id && html`<dt>Enterprise id</dt><dd class="mono">${product.enterprise_product_id}</dd>`}
    </dl></div></${Panel}>`;
}

/** @param {ProductDetail["attributes"]} attributes */
function Attributes(attributes) {
  if (!attributes) return "";
  const { strain_name: strain, terpenes = [], tags = [], rating, reviews, item_url: page } = attributes;
  const shares = terpenes.map(({ name, percent }) => [name, percent && `${percent} %`].filter(Boolean).join(" "));
  return html`${strain && html`<dt>Strain</dt><dd><bdi>${strain}</bdi></dd>`}
    ${shares.length > 0 && html`<dt>Terpenes</dt><dd><bdi>${shares.join(", ")}</bdi></dd>`}
    ${tags.length > 0 && html`<dt>Tags</dt><dd><bdi>${tags.join(", ")}</bdi></dd>`}
    ${rating && html`<dt>Rating</dt><dd>${amount.format(rating)} of 5${reviews ? `, ${plural(reviews, "review")}` : ""}</dd>`}
    ${page && html`<dt>Page</dt><dd><a class="link" href=${page} target="_blank" rel="noreferrer noopener">At the platform</a></dd>`}`;
}

/** @param {ProductDetail} product */
function potency(product) {
  const thc = range("THC", product.thc_min, product.thc_max, product.thc_unit);
  const cbd = range("CBD", product.cbd_min, product.cbd_max, product.cbd_unit);
  return [thc, cbd].filter(Boolean).join(", ") || "–";
}

/**
 * @param {string} name
 * @param {number | null | undefined} min
 * @param {number | null | undefined} max
 * @param {string | null | undefined} unit
 */
function range(name, min, max, unit) {
  const high = max ?? min ?? null;
  if (high === null) return "";
  const word = !unit ? "" : /** @type {Record<string, string>} */ (UNITS)[unit] ?? unit.toLowerCase().replaceAll("_", " ");
  if (high > 0 && high < SMALLEST) return `${name} below ${SMALLEST} ${word}`.trim();
  const low = typeof min === "number" && min !== high ? `${amount.format(min)} to ` : "";
  return `${name} ${low}${amount.format(high)} ${word}`.trim();
}
