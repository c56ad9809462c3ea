// @ts-check
// Beside the hub: the selected pod with its workers, or how to select one and the content of the queue.

import { link } from "../../core/base.js";
import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Meter } from "../../parts/meter.js";
import { Panel } from "../../parts/panel.js";
import { WorkerState } from "../../parts/status.js";

/** @import { Pod } from "../../parts/pods.js" */
/** @import { Counts, TaskCounts } from "../../types/api" */

const OPEN = /** @type {const} */ (["pending", "running", "stale"]);

/** @param {{ pod: Pod | null, pods: Pod[], counts: TaskCounts | null }} properties */
export function PodFacts({ pod, pods, counts }) {
  if (!pod) return html`<${Queue} counts=${counts} hasPods=${pods.length > 0} />`;
  const clear = html`<a class="more" href=${link("/admin/job-queue")}>Clear</a>`;
  return html`<${Panel} title=${pod.name} scope=${`${count(pod.tasks)} of ${count(pod.slots)} tasks`} more=${clear}>
    <table class="table fold"><thead><tr><th>Worker</th><th class="num">Tasks</th><th>Memory</th><th>CPU</th><th>State</th></tr></thead>
      <tbody>${pod.workers.map(
        (worker) => html`<tr key=${worker.worker_id}>
          <th scope="row" class="key">
            <a href=${link("/admin/tasks", { worker_id: worker.worker_id })}><bdi>${worker.friendly_name}</bdi></a></th>
          <td class="num fact" data-l="tasks">${count(worker.active_task_count)} / ${count(worker.max_concurrent_tasks)}</td>
          <td class="fact" data-l="memory"><${Meter} of="memory" percent=${worker.resources.memory_percent} /></td>
          <td class="fact" data-l="CPU"><${Meter} of="CPU" percent=${worker.resources.cpu_percent} /></td>
          <td class="end">${worker.status === "active"
            ? html`<span class="dim">Active</span>`
            : html`<${WorkerState} of=${worker.status} title=${worker.resources.backoff_reason ?? undefined} />`}</td></tr>`,
      )}</tbody></table>
  </${Panel}>`;
}

/** @param {{ counts: TaskCounts | null, hasPods: boolean }} properties */
const Queue = ({ counts, hasPods }) =>
  html`<${Panel} title="Queue" scope="open tasks by role, now">
    ${counts &&
    html`<table class="table fold"><thead><tr><th>Role</th>${OPEN.map((status) => html`<th class="num">${status}</th>`)}</tr></thead>
      <tbody>${Object.entries(counts.by_role).map(
        ([role, numbers]) => html`<tr key=${role}><th scope="row" class="key"><a href=${link("/admin/tasks", { role })}>${role}</a></th>
          ${OPEN.map((status) => html`<td class="num fact" data-l=${status}>${count(numberOf(numbers, status))}</td>`)}</tr>`,
      )}</tbody></table>`}
    ${hasPods && html`<p class="panel-foot">Select a pod to see its workers, and its tasks below.</p>`}
  </${Panel}>`;

/** Claimed is nearly running. @param {Counts} numbers @param {typeof OPEN[number]} status */
const numberOf = (numbers, status) => (status === "running" ? numbers.running + numbers.claimed : numbers[status]);
