// @ts-check
// The waiting or running task of a store, and earlier ones: a failed one shows its reason, and can be
// retried.

import { pathOf, send } from "../../core/api.js";
import { link } from "../../core/base.js";
import { count, duration, plural } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { may } from "../../core/session.js";
import { Progress } from "../../parts/meter.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { Retry } from "../../parts/retry.js";
import { useSteadyRows, Waiting } from "../../parts/rows.js";
import { TaskStatus } from "../../parts/status.js";
import { Ago, Running, Until } from "../../parts/time.js";
import { act } from "../../parts/toast.js";

/** @import { Answer } from "../../core/resource.js" */
/** @import { ActiveTask, StoreView, TaskView } from "../../types/api" */
/** @import { Data } from "../../types/requests" */
/** @import { Live } from "../store.js" */
/**
 * The result of a crawl, as far as it is shown.
 * @typedef {Partial<Record<"payload_id" | "products" | "changed", unknown>>} CrawlResult
 */

const SHOWN = 8;
const RETRIED = ["failed", "cancelled"];

/**
 * @param {object} properties
 * @param {Answer<ActiveTask>} properties.of the task that runs
 * @param {TaskView[]} [properties.waiting]
 * @param {StoreView | null} properties.store
 */
export function Now({ of, waiting = [], store }) {
  return html`<${Panel} title="What happens now" scope="its tasks that wait or run">
    <${Loaded} of=${of} what="The active task" rows=${1}>${(/** @type {ActiveTask} */ { task }) =>
      task || waiting.length > 0
        ? [task, ...waiting.filter(({ id }) => id !== task?.id)].map((each) => each && html`<${Active} key=${each.id} task=${each} />`)
        : html`<p class="panel-body dim">
            No task of this store waits or runs. ${store && !store.crawl_enabled
              ? "Its crawls are disabled."
              : store?.last_crawl_at
                ? html`Its last crawl was <${Ago} at=${store.last_crawl_at} after="ago." />`
                : "It has not been crawled yet."}</p>`}</${Loaded}></${Panel}>`;
}

/** @param {{ task: TaskView }} properties */
function Active({ task }) {
  const runs = ["claimed", "running"].includes(task.status);
  return html`<div class="panel-body">
    <p class="row"><${TaskStatus} of=${task.status} />
      <a class="link" href=${link(`/admin/tasks/${task.id}`)}>${task.role} ${task.id}</a>
        ${runs ? html`<span>for <${Running} since=${task.started_at ?? task.claimed_at} /></span>` : html`<span>${waits(task)}</span>`}
        ${task.worker_id && html`<a class="soft"
          href=${link("/admin/tasks", { worker_id: task.worker_id, status: "running" })}>by ${task.worker_name ?? task.worker_id}</a>`}
        ${task.retry_count > 0 && html`<span class="status retrying">attempt ${count(task.retry_count + 1)}</span>`}</p>
      ${runs && html`<${Progress} percent=${task.progress_percent} text=${task.progress_message} />`}
      ${task.error_message && html`<p class="why"><span class="dim">The attempt before:</span> ${task.error_message}</p>`}</div>`;
}

/** @param {TaskView} task */
function waits(task) {
  if (task.scheduled_for && !task.ready) return html`begins <${Until} at=${task.scheduled_for} />`;
  return html`has waited for <${Running} since=${task.created_at} />`;
}

/** @param {{ id: number, live: Live }} properties */
export function Crawls({ id, live }) {
  const answer = useResource(pathOf("/api/tasks", { dispensary_id: id, limit: SHOWN }), { ...live, gap: 5_000 });
  const failed = html`<a class="more" href=${link("/admin/tasks", { dispensary_id: id, status: "failed" })}>Failed</a> `;
  const all = html`<a class="link" href=${link("/admin/tasks", { dispensary_id: id })}>All</a>`;
  return html`<${Panel} title="Last crawls" scope=${`tasks of this store, the newest ${count(SHOWN)}`}
    more=${html`<span class="more">${failed}· ${all}</span>`}>
    <${Loaded} of=${answer} what="The list of tasks">${(/** @type {Data<typeof answer>} */ data) =>
      data.tasks.length === 0
        ? html`<${Empty} icon="pending" title="No task of this store is kept"><p>Crawl now creates one.</p></${Empty}>`
        : html`<${Table} tasks=${data.tasks} />`}</${Loaded}>
  </${Panel}>`;
}

/** @param {{ tasks: TaskView[] }} properties */
function Table({ tasks }) {
  const steady = useSteadyRows(tasks, (task) => task.id);
  return html`<table class="table fold" ...${steady.hold}>
      <thead><tr><th scope="col">Task</th><th scope="col">Status</th>
        <th scope="col" class="w-third">Result</th><th scope="col" class="num">Took</th>
        <th scope="col" class="num">Created</th></tr></thead>
      <tbody>${steady.rows.map((task) => html`<${Row} key=${task.id} task=${task} />`)}</tbody>
    </table><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />`;
}

const Row = memo((/** @type {{ task: TaskView }} */ { task }) => {
  return html`<tr data-row>
    <th scope="row" class="key">
      <a href=${link(`/admin/tasks/${task.id}`)}>${task.role}<br /><span class="scope">${task.id}</span></a></th>
    <td class="end"><${TaskStatus} of=${task.status} />
      ${may("operator") && RETRIED.includes(task.status) &&
        html`<br /><button class="btn small" type="button" data-key="r" aria-label=${`Retry task ${task.id}`}
          onClick=${() => retry(task.id)}>Retry</button>`}</td>
    <td class="line first why">${outcome(task)}</td>
    <td class="num fact" data-l="took">${took(task)}</td>
    <td class="num fact" data-l="created"><${Ago} at=${task.created_at} after="ago" /></td>
  </tr>`;
});

/** @param {number} id */
const retry = (id) =>
  act(() => send("POST", pathOf("/api/tasks/{id}/retry", { id })), `Task ${id} waits again.`, {
    href: link(`/admin/tasks/${id}`),
    linkText: "Show the task",
  });

/** @param {TaskView} task */
function outcome(task) {
  if (task.status === "pending" && !task.error_message) return waits(task);
  if (task.error_message) {
    return html`<span class=${task.status === "failed" ? "bad" : "soft"}>${task.error_message}</span>
      ${task.retry_state && html`<br /><span class="scope"><${Retry} of=${task} /></span>`}`;
  }
  const result = /** @type {CrawlResult | null | undefined} */ (task.result);
  if (!result) return task.progress_message ?? "";
  const payload = typeof result.payload_id === "number"
    ? html` · <a class="link-wrap" href=${link("/admin/payloads", { id: result.payload_id })}>payload ${result.payload_id}</a>`
    : "";
  if (typeof result.products !== "number") return payload && html`${payload}`;
  return html`${plural(result.products, "product")}${typeof result.changed === "number" && `, ${count(result.changed)} changed`}${payload}`;
}

/** @param {TaskView} task */
const took = (task) =>
  task.started_at && task.completed_at ? duration((Date.parse(task.completed_at) - Date.parse(task.started_at)) / 1000) : "–";
