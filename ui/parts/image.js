// @ts-check
// A stored image of a product or brand, in the size at which it is shown.

import { link } from "../core/base.js";
import { html } from "../core/html.js";

/** Factor for screens with two dots per pixel. */
const DENSITY = 2;

/**
 * Empty without a stored image. It repeats the text beside it, so screen readers skip it.
 * @param {object} properties
 * @param {string | null | undefined} properties.path as in `local_image_path`
 * @param {number} properties.size of the square that holds it, in pixels
 */
export function StoredImage({ path, size }) {
  if (!path) return null;
  const source = link(path.replace(/^images\//, "/img/"), { w: size * DENSITY, h: size * DENSITY });
  return html`<img class="stored-image" src=${source} width=${size} height=${size} alt="" loading="lazy" decoding="async" />`;
}
