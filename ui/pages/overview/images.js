// @ts-check
// Images of products and brands in one line, and the reasons for the missing ones in another.

import { bytes, count, plural, share } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Icon } from "../../parts/icon.js";

/** @import { ImagesServed, OverviewAnswer } from "../../types/api" */

/** Words for a missing image, by the API's reason. @type {Record<string, string>} */
const REASONS = {
  http: "without an answer or by an HTTP error",
  not_an_image: "that are not images",
  too_large: "too large",
  truncated: "incomplete",
  refused_host: "from a host that is in no platform's image_hosts",
  refused_redirect: "redirected to a host that is in no platform's image_hosts",
  robots: "forbidden by a robots.txt",
  disk: "that could not be written",
};

/** Empty before the first image. @param {{ overview: OverviewAnswer | null }} properties */
export function Images({ overview }) {
  if (!overview) return null;
  const { images, images_served: served } = overview;
  const failed = images.failed.reduce((sum, each) => sum + each.images, 0);
  if (images.stored + failed === 0) return null;
  const reasons = images.failed.map((each) => `${count(each.images)} ${REASONS[each.reason] ?? each.reason}`);
  return html`<section aria-label="Images">
    <p class="scope">${plural(images.stored, "image")} downloaded, ${bytes(images.bytes)}${servedText(served)}.</p>
    ${failed > 0 && html`<p class="scope"><span class="warn"><${Icon} name="warn" /></span> ${plural(failed, "image")} not stored: ${reasons.join("; ")}.</p>`}
  </section>`;
}

/** @param {ImagesServed} served */
function servedText({ rendered, cached }) {
  const made = rendered + cached;
  if (made === 0) return "";
  return `; ${count(made)} resized by this server since its start, ${share(cached, made)} of them from its cache`;
}
