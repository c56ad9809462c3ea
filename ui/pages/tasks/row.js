// @ts-check
// A task's row.

import { link } from "../../core/base.js";
import { clockTime, count, duration, storeText } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { Progress } from "../../parts/meter.js";
import { Retry } from "../../parts/retry.js";
import { Select } from "../../parts/selection.js";
import { TaskStatus } from "../../parts/status.js";
import { Ago, Running, Until } from "../../parts/time.js";

/** @import { TaskView as Task } from "../../types/api" */

/**
 * @typedef {object} RowOf
 * @property {Task} task
 * @property {boolean} isSelected
 * @property {((id: number, isRange: boolean) => void) | null} onSelect
 * @property {boolean} withStatus
 */

export const Row = memo((/** @type {RowOf} */ { task, isSelected, onSelect, withStatus }) => {
  const store = storeText(task);
  const to = link(`/admin/tasks/${task.id}`);
  return html`<tr data-row class=${isSelected ? "is-selected" : ""}>
    ${onSelect && html`<${Select} id=${task.id} what=${`task ${task.id}`} isSelected=${isSelected} onSelect=${onSelect} />`}
    <th scope="row" class="key"><a class="lines" href=${to} title=${store}><bdi>${store}</bdi></a></th>
    <td class="num fact" data-l="task"><a class="link" href=${to}>${task.id}</a></td>
    ${withStatus && html`<td class="fact"><${TaskStatus} of=${task.status} /></td>`}
    <td class="fact">${task.role}</td>
    <td class="fact">${task.worker_name ?? (task.worker_id ? html`<span class="dim">${task.worker_id}</span>` : "")}</td>
    <td class="num fact" data-l="retries">${count(task.retry_count)} / ${count(task.max_retries)}</td>
    <td class="line first soft">
      ${task.error_message ? html`<span class="lines" title=${task.error_message}>${task.error_message}</span>` : (task.status === "running"
        ? html`<${Progress} percent=${task.progress_percent ?? null} text=${task.progress_message ?? null} />`
        : "")}
      ${task.retry_state && html`<span class="scope"><${Retry} of=${task} /></span>`}</td>
    <td class="num low">${ran(task)}</td>
    <td class="num end">${when(task)}</td>
  </tr>`;
});

/** Whether its row has an error, or how far it is. @param {Task} task */
export const saysWhy = ({ error_message: error, status, retry_state: retry }) => !!(error || retry) || status === "running";

/** @param {Task} task */
function ran(task) {
  if (!task.started_at) return "";
  if (!task.completed_at) return task.status === "running" ? html`<${Running} since=${task.started_at} />` : "";
  return duration((Date.parse(task.completed_at) - Date.parse(task.started_at)) / 1000);
}

/** The time of its end; else when it may begin, began or was made. @param {Task} task */
function when(task) {
  if (task.completed_at) return html`<${Ago} at=${task.completed_at} after="ago" />`;
  if (task.status === "running" && task.started_at) return `since ${clockTime(task.started_at)}`;
  if (task.status === "pending" && task.scheduled_for && !task.ready) return html`<${Until} at=${task.scheduled_for} />`;
  return html`<${Ago} at=${task.started_at ?? task.created_at} after="ago" />`;
}
