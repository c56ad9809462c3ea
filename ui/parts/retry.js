// @ts-check
// Whether a task that failed or was put off is tried again, and why not. The rule is the API's `retry_state`.

import { html } from "../core/html.js";
import { count, plural } from "../core/format.js";
import { Until } from "./time.js";

/** @import { TaskView } from "../types/api" */

/** Nothing of a task that has not failed. @param {{ of: TaskView }} properties */
export function Retry({ of }) {
  if (of.retry_state === "permanent") return "not retried: the failure is permanent";
  if (of.retry_state === "used_up") return `${count(of.retry_count)} of ${plural(of.max_retries, "retry", "retries")} used`;
  if (of.retry_state !== "waits") return null;
  return html`next try ${of.scheduled_for ? html`<${Until} at=${of.scheduled_for} />` : "now"}`;
}
