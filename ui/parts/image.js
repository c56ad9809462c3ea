// @ts-check
// A stored image of a product, a brand or an item, in the size at which it is shown.

import { link } from "../core/base.js";
import { html } from "../core/html.js";

/** Factor for screens with two dots per pixel. */
const DENSITY = 2;

/**
 * The address of an image that fits into a square.
 * @param {string} path as in `local_image_path`
 * @param {number} side in dots
 */
export const imageAddress = (path, side) => link(`/img/${path.replace(/^images\//, "")}`, { w: side, h: side });

/**
 * Empty without a stored image. Without a text of its own it repeats the one beside it, so screen readers skip it.
 * @param {object} properties
 * @param {string | null | undefined} properties.path as in `local_image_path`
 * @param {number} properties.size of the square that holds it, in pixels
 * @param {string} [properties.alt]
 */
export function StoredImage({ path, size, alt = "" }) {
  if (!path) return null;
  return html`<img class="stored-image" src=${imageAddress(path, size * DENSITY)} width=${size} height=${size} alt=${alt} loading="lazy" decoding="async" />`;
}
