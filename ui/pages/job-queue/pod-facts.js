// @ts-check
// Beside the hub: the selected pod with its workers, or all pods and the content of the queue.

import { link } from "../../core/base.js";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Panel } from "../../parts/panel.js";
import { PauseButton } from "../../parts/pause.js";
import { sharedProcesses } from "../../parts/pods.js";
import { WorkerState } from "../../parts/status.js";
import { Usage } from "./usage.js";

/** @import { Pod } from "../../parts/pods.js" */
/** @import { Counts, Pause, TaskCounts } from "../../types/api" */

const OPEN = /** @type {const} */ (["pending", "running", "stale"]);

/**
 * @typedef {object} Known
 * @property {Record<string, number>} failed tasks of the last hour, by pod
 * @property {Pause[] | undefined} pauses
 */

/** @param {Known & { pod: Pod | null, pods: Pod[], counts: TaskCounts | null }} properties */
export function PodFacts({ pod, pods, counts, ...known }) {
  if (pod) return html`<${Selected} pod=${pod} ...${known} /><${Queue} counts=${counts} />`;
  return html`<${Queue} counts=${counts} />${pods.length > 0 && html`<${Pods} pods=${pods} ...${known} />`}`;
}

/** @param {Known & { pod: Pod }} properties */
function Selected({ pod, failed, pauses }) {
  const more = html`<div class="row actions"><${PauseButton} scope="pod" of=${pod.name} name=${pod.name} pauses=${pauses} isSmall=${true} />
    <a class="more" href=${link("/admin/job-queue")}>Clear</a></div>`;
  return html`<${Panel} title=${pod.name} scope=${`${count(pod.tasks)} of ${plural(pod.slots, "task")}, ${failedText(failed[pod.name])}`} more=${more}>
    <div class="panel-body"><${Usage} pod=${pod} /></div>
    <table class="table fold"><thead><tr><th>Worker</th><th class="num">Tasks</th><th>State</th></tr></thead>
      <tbody>${pod.workers.map(
        (worker) => html`<tr key=${worker.worker_id}>
          <th scope="row" class="key">
            <a href=${link("/admin/tasks", { worker_id: worker.worker_id })}><bdi>${worker.friendly_name}</bdi></a></th>
          <td class="num fact" data-l="tasks">${count(worker.active_task_count)} / ${count(worker.max_concurrent_tasks)}</td>
          <td class="end">${worker.status === "active"
            ? html`<span class="dim">Active</span>`
            : html`<${WorkerState} of=${worker.status} title=${worker.resources.backoff_reason ?? undefined} />`}</td></tr>`,
      )}</tbody></table>
  </${Panel}>`;
}

/** @param {number | undefined} tasks */
const failedText = (tasks) => (tasks ? `${count(tasks)} failed in the last hour` : "no failures in the last hour");

/** @param {Known & { pods: Pod[] }} properties */
function Pods({ pods, failed, pauses }) {
  const shared = sharedProcesses(pods);
  return html`<${Panel} title="Pods" scope="failed: tasks of the last hour">
    <table class="table fold"><thead><tr><th>Pod</th><th class="num">Tasks</th><th class="num">Failed</th><th>Workers</th>
      <th class="num"><span class="sr">Actions</span></th></tr></thead>
      <tbody>${pods.map((pod) => html`<tr key=${pod.name}>
        <th scope="row" class="key"><a href=${link("/admin/job-queue", { pod: pod.name })}><bdi>${pod.name}</bdi></a><br />
          <span class="scope">${shared.has(pod.name)
            ? html`process of <bdi>${shared.get(pod.name)}</bdi>`
            : `memory ${Math.round(pod.memory)} %, CPU ${Math.round(pod.cpu)} %`}</span></th>
        <td class="num fact" data-l="tasks">${count(pod.tasks)} / ${count(pod.slots)}</td>
        <td class="num fact" data-l="failed">${failed[pod.name] ? html`<b class="bad">${count(failed[pod.name])}</b>` : "0"}</td>
        <td class="fact" data-l="workers">${statesOf(pod)}</td>
        <td class="num end"><${PauseButton} scope="pod" of=${pod.name} name=${pod.name} pauses=${pauses} isSmall=${true} /></td>
      </tr>`)}</tbody></table>
    <p class="panel-foot">Select a pod to see its workers, and its tasks below.</p>
  </${Panel}>`;
}

/** `5 active`, `4 active, 1 paused`. @param {Pod} pod */
function statesOf({ workers }) {
  const words = workers.map(({ status }) => status.replace("_", " "));
  return [...new Set(words)].map((word) => `${count(words.filter((each) => each === word).length)} ${word}`).join(", ");
}

/** @param {{ counts: TaskCounts | null }} properties */
const Queue = ({ counts }) =>
  html`<${Panel} title="Queue" scope="open tasks by role, now">
    ${counts &&
    html`<table class="table fold"><thead><tr><th>Role</th>${OPEN.map((status) => html`<th class="num">${status}</th>`)}</tr></thead>
      <tbody>${Object.entries(counts.by_role).map(
        ([role, numbers]) => html`<tr key=${role}><th scope="row" class="key"><a href=${link("/admin/tasks", { role })}>${role}</a></th>
          ${OPEN.map((status) => html`<td class="num fact" data-l=${status}>${count(numberOf(numbers, status))}</td>`)}</tr>`,
      )}</tbody></table>`}
  </${Panel}>`;

/** Claimed is nearly running. @param {Counts} numbers @param {typeof OPEN[number]} status */
const numberOf = (numbers, status) => (status === "running" ? numbers.running + numbers.claimed : numbers[status]);
