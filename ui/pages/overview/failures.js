// @ts-check
// Failures by reason: each links to its tasks, and its time to the last one.

import { link } from "../../core/base.js";
import { count, plural } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { Loaded, Panel } from "../../parts/panel.js";
import { Ago } from "../../parts/time.js";

/** @import { Answer } from "../../core/resource.js" */
/** @import { Failures as FailureCounts, FailureReason, OverviewAnswer } from "../../types/api" */

const SHOWN = 6;
/** Minimum length of a part of a text that finds its tasks. */
const MIN_PART = 3;

/** @param {{ of: Answer<OverviewAnswer> }} properties */
export function Failures({ of }) {
  const failures = of.data?.failures;
  const isQuiet = failures?.tasks === 0;
  const more = failures && html`<a class="more" href=${hrefOf(failures)}>${isQuiet ? "Failed before" : `All ${count(failures.tasks)}`}</a>`;
  const mended = failures ? mendedSince(failures) : "";
  return html`<${Panel} title="What fails" scope=${`${isQuiet ? "nothing in the last hour" : "last hour, by reason"}${mended}`} more=${more}>
    <${Loaded} of=${of} what="The list of failures">${(/** @type {OverviewAnswer} */ data) =>
      data.failures.reasons.length > 0 &&
        html`<table class="table fold">
            <thead><tr><th class="num">Tasks</th><th>Reason</th><th class="num">Last</th></tr></thead>
            <tbody>${data.failures.reasons.slice(0, SHOWN).map((reason) =>
              html`<${Reason} key=${`${reason.role} ${reason.error_message}`} of=${reason} />`)}</tbody>
          </table>`}</${Loaded}>
  </${Panel}>`;
}

/** `; 2 mended since`, to be added to a scope. @param {FailureCounts} failures */
export const mendedSince = ({ mended }) => (mended > 0 ? `; ${count(mended)} mended since` : "");

/** The failed tasks of the roles that fail. @param {FailureCounts} failures */
export const hrefOf = ({ reasons }) =>
  link("/admin/tasks", { status: "failed", role: [...new Set(reasons.map(({ role }) => role))].join(",") || null });

const Reason = memo((/** @type {{ of: FailureReason }} */ { of: reason }) => {
  const tasks = link("/admin/tasks", { status: "failed", role: reason.role, error: longestPart(reason.error_message) });
  const where = reason.stores === 1 && reason.store_name ? html`<bdi>${reason.store_name}</bdi>` : plural(reason.stores, "store");
  return html`<tr data-row>
    <td class="num pick"><b class="count">${count(reason.tasks)}</b></td>
    <th scope="row" class="key"><a href=${tasks}>${reason.error_message || "no reason was given"}</a><br />
      <span class="scope">${reason.role}${reason.stores > 0 && html` · ${where}`}</span></th>
    <td class="num end nowrap">
      <a class="link" href=${link(`/admin/tasks/${reason.last_task_id}`)}><span class="sr">The last one: </span>
        <${Ago} at=${reason.last_failed_at} /></a></td>
  </tr>`;
});

/** Texts of one reason differ in their numbers: the part between the numbers finds all. @param {string} text */
function longestPart(text) {
  const parts = text.split(/\d+/).map((part) => part.trim());
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), "");
  return longest.length >= MIN_PART ? longest : text;
}
