// @ts-check
// One task: its attempts on one time axis with the reason of each end, its chain, its facts, payload and
// result.

import { useProxies } from "../core/answers.js";
import { pathOf, Refusal, send } from "../core/api.js";
import { address, link } from "../core/base.js";
import { now } from "../core/clock.js";
import { count, plural } from "../core/format.js";
import { html, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { roleOf } from "../core/roles.js";
import { currentPath, navigate } from "../core/router.js";
import { may } from "../core/session.js";
import { TASK_PRIORITY } from "../core/vocabulary.js";
import { CopyId } from "../parts/copy-id.js";
import { confirm } from "../parts/dialog.js";
import { FormDialog } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Failure, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { Pauses, usePauses } from "../parts/pause.js";
import { Retry } from "../parts/retry.js";
import { TaskStatus } from "../parts/status.js";
import { Ago, Until } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Attempts } from "./task/attempts.js";
import { Chain } from "./task/chain.js";
import { Json } from "./task/json.js";
import { pausesOf } from "./task/pauses.js";

/** @import { TaskChange, TaskDetail as Task } from "../types/api" */

/** @param {{ id: number }} properties */
export function Page({ id }) {
  const answer = useResource(pathOf("/api/tasks/{id}", { id }), { topics: ["task"], gap: 1_000 });
  const proxies = useProxies();
  const pauses = usePauses().data?.pauses;
  usePage(`Task ${id}`, answer);
  const crumb = html`<a href=${link("/admin/tasks")}>Tasks</a>`;
  if (answer.error instanceof Refusal && !answer.data) {
    return html`<${PageHead} title=${`Task ${id}`} crumb=${crumb} />
      <div class="panel"><${Failure} error=${answer.error} what="This task" onRetry=${answer.reload} /></div>`;
  }
  return html`<${Loaded} of=${answer} what="This task">${(/** @type {Task} */ task) => html`
    <${PageHead} title=${`Task ${task.id}`} crumb=${crumb} mark=${html`<${CopyId} id=${task.id} what="task" /><${TaskStatus} of=${task.status} />`}
      scope=${html`${task.role}${task.dispensary_name && html` · <bdi>${task.dispensary_name}</bdi>`}`}>
      ${may("operator") && html`<${Actions} task=${task} />`}
      <a class="btn" href=${address(pathOf("/api/tasks/{id}", { id }))} download=${`task-${id}.json`}>Download the JSON</a>
    </${PageHead}>
    <${Pauses} pauses=${pausesOf(pauses, task)} />
    <div class="cols wide-left">
      <div class="stack">
        <${Panel} title="Attempts" scope=${`${plural(task.attempts.length, "attempt")}, newest first`}>
          <${Attempts} task=${task} proxies=${proxies.data?.proxies ?? []} now=${now()} /></${Panel}>
        <${Panel} title="Chain" scope="what made it, and what it made"><${Chain} task=${task} /></${Panel}>
      </div>
      <div class="stack">
        <${Panel} title="Task"><${Facts} task=${task} /></${Panel}>
        <${Panel} title="Payload" scope="the role's arguments">
          <${Json} of=${task.payload} label="Task payload" none="None: the role needs no arguments." /></${Panel}>
        <${Panel} title="Result">
          <${Json} of=${task.result ?? null} label="Task result" none=${task.completed_at ? `None: the task is ${task.status}.` : "None yet: it is written when the task completes."} /></${Panel}>
      </div>
    </div>`}</${Loaded}>`;
}

/** @param {{ task: Task }} properties */
function Actions({ task }) {
  const [isEditing, edit] = useState(false);
  const path = pathOf("/api/tasks/{id}", { id: task.id });
  const id = task.id;
  const isOpen = ["pending", "claimed", "running", "stale"].includes(task.status);
  const retry = () => act(() => send("POST", pathOf("/api/tasks/{id}/retry", { id: task.id }), {}), `Task ${id} is pending again`);
  const cancel = async () => {
    const isSure = await confirm({
      title: `Cancel task ${id}?`,
      body: html`<p>${task.status === "pending" ? "It will not run." : "Its run is stopped."}</p>`,
      action: "Cancel task",
      keep: "Keep task",
      danger: true,
    });
    if (isSure) await act(() => send("POST", pathOf("/api/tasks/{id}/cancel", { id: task.id }), {}), `Task ${id} is cancelled`);
  };
  const remove = async () => {
    const isSure = await confirm({
      title: `Delete task ${id}?`,
      body: html`<p>Its attempts are deleted, too. This cannot be undone.</p>`,
      action: "Delete task",
      keep: "Keep task",
      danger: true,
    });
    const isDeleted = isSure && (await act(() => send("DELETE", path).then(() => true), `Task ${id} is deleted`));
    if (isDeleted && currentPath() === `/admin/tasks/${id}`) navigate(link("/admin/tasks"));
  };
  return html`
    ${(task.status === "failed" || task.status === "cancelled") &&
      html`<button class="btn primary" type="button" data-key="r" onClick=${retry}><${Icon} name="retrying" />Retry</button>`}
    ${task.status === "pending" && html`<button class="btn" type="button" onClick=${() => edit(true)}>Priority and time…</button>`}
    ${isOpen
      ? html`<button class="btn danger" type="button" onClick=${cancel}>Cancel…</button>`
      : html`<button class="btn danger" type="button" onClick=${remove}>Delete…</button>`}
    ${isEditing &&
    html`<${FormDialog} title=${`Task ${id}`} action="Save" done=${`Task ${id} is changed`} onClose=${() => edit(false)}
      fields=${[
        {
          name: "priority",
          label: "Priority",
          type: "number",
          min: -1000,
          max: 1000,
          value: task.priority,
          required: true,
          help: TASK_PRIORITY,
        },
        {
          name: "scheduled_for",
          label: "Not before",
          type: "datetime-local",
          value: task.scheduled_for?.slice(0, 16),
          help: "UTC; empty: as soon as possible",
        },
      ]}
      submit=${(/** @type {TaskChange} */ values) => send("PUT", path, values)} />`}`;
}

/** @param {{ task: Task }} properties */
function Facts({ task }) {
  return html`<div class="panel-body"><dl class="facts">
    <dt>Role</dt><dd><a class="link" href=${link("/admin/tasks", { role: task.role })}>${task.role}</a></dd>
    <dt>Store</dt><dd>${task.dispensary_id
      ? html`<a class="link wrap" href=${link(`/admin/stores/${task.dispensary_id}`)}>
          <bdi>${task.dispensary_name ?? task.dispensary_id}</bdi></a>`
      : html`<span class="dim">none: it is for all</span>`}</dd>
    <dt>Platform</dt><dd>${task.platform ?? html`<span class="dim">–</span>`}</dd>
    <dt>Priority</dt><dd>${count(task.priority)} <span class="scope">${roleOf(task.role)?.family === "media" ? TASK_PRIORITY : "higher is claimed first"}</span></dd>
    <dt>Created</dt><dd><${Ago} at=${task.created_at} after="ago" /></dd>
    ${task.scheduled_for && !task.started_at && html`<dt>Not before</dt><dd><${Until} at=${task.scheduled_for} /></dd>`}
    ${task.started_at && html`<dt>Started</dt>
      <dd><${Ago} at=${task.started_at} after="ago" />${task.worker_id && html` by ${task.worker_name ?? task.worker_id}`}</dd>`}
    ${task.completed_at && html`<dt>Ended</dt><dd><${Ago} at=${task.completed_at} after="ago" /></dd>`}
    ${task.lease_expires_at && !task.completed_at &&
      html`<dt>Lease</dt><dd>ends <${Until} at=${task.lease_expires_at} />, last beat <${Ago}
        at=${task.last_heartbeat_at} after="ago" /></dd>`}
    <dt>Retries</dt><dd>${count(task.retry_count)} of ${count(task.max_retries)} used${task.retry_state && task.retry_state !== "used_up" &&
      html`, <${Retry} of=${task} />`}</dd>
    ${task.dedup_key && html`<dt>Key</dt><dd class="mono">${task.dedup_key}</dd>`}
    ${task.error_message && html`<dt>Error</dt><dd class="bad">${task.error_message}</dd>`}
  </dl></div>`;
}
