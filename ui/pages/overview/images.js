// @ts-check
// Images of products and brands: the number stored, the reasons for the missing ones, and the requests
// served.

import { bytes, count, share } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Secondary } from "../../parts/secondary.js";
import { Figure, Strip } from "../../parts/strip.js";

/** @import { OverviewAnswer } from "../../types/api" */

/** Words for a missing image, by the API's reason. @type {Record<string, string>} */
const REASONS = {
  http: "without an answer or with an HTTP error",
  not_an_image: "that are no images",
  too_large: "too large",
  truncated: "incomplete",
  refused_host: "from a host that platform.dutchie.image_hosts lacks",
  refused_redirect: "redirected to a host that platform.dutchie.image_hosts lacks",
  robots: "that a robots.txt forbids",
  disk: "that the disk did not take",
};

/** Empty before the first image. @param {{ overview: OverviewAnswer | null }} properties */
export function Images({ overview }) {
  if (!overview) return null;
  const { images, images_served: served } = overview;
  const failed = images.failed.reduce((sum, each) => sum + each.images, 0);
  if (images.stored + failed === 0) return null;
  const reasons = images.failed.map((each) => `${count(each.images)} ${REASONS[each.reason] ?? each.reason}`);
  const made = served.rendered + served.cached;
  return html`<${Secondary} title="Images" scope=${`${count(images.stored)} downloaded, ${count(failed)} not stored`}><${Strip} label="Images">
    <${Figure} label="Images downloaded" value=${count(images.stored)} scope=${`${bytes(images.bytes)} in all`} />
    <${Figure} label="Images not stored" value=${count(failed)} scope=${reasons.join("; ") || "none failed"} />
    <${Figure} label="Images rendered" value=${count(served.rendered)} scope="by this server, since its start" />
    <${Figure} label="Hit rate" value=${made > 0 ? share(served.cached, made) : "–"} scope=${`of ${count(made)} resized images`} />
  </${Strip}></${Secondary}>`;
}
