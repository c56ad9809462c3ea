// @ts-check
// Workers: by pod, in trouble first, with their tasks, memory, CPU and orders.

import { useCapacity, useWorkers } from "../core/answers.js";
import { pathOf, send } from "../core/api.js";
import { link } from "../core/base.js";
import { count, plural, share } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { may } from "../core/session.js";
import { workersForAll } from "../parts/capacity.js";
import { confirm } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Meter } from "../parts/meter.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { PauseButton, Pauses, usePauses } from "../parts/pause.js";
import { isLive, podsOf, sharedProcesses } from "../parts/pods.js";
import { Ring } from "../parts/ring.js";
import { RowAction } from "../parts/row-action.js";
import { useSteadyRows } from "../parts/rows.js";
import { headsOf, sorted } from "../parts/sort.js";
import { Figure, Strip } from "../parts/strip.js";
import { WorkerState } from "../parts/status.js";
import { Ago } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Replicas } from "./workers/replicas.js";

/** @import { Pod } from "../parts/pods.js" */
/** @import { Keys } from "../parts/sort.js" */
/** @import { Capacity, Pause, WorkerCommand, WorkerDocument as Worker } from "../types/api" */

/** In trouble first. */
const ORDER = ["offline", "backing_off", "paused", "draining", "active"];
/** The order of this page where its address says none. */
const INITIAL = "trouble";
/** @type {Keys<Worker>} */
const KEYS = {
  name: ({ friendly_name: name }) => name,
  tasks: ({ active_task_count: tasks }) => tasks,
};

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const answer = useWorkers();
  const capacity = useCapacity();
  const pauses = usePauses().data?.pauses;
  usePage("Workers", answer);
  const pods = podsOf(answer.data?.workers ?? []).sort((one, other) => worst(one) - worst(other));
  const rows = sorted(pods.flatMap(inTroubleFirst), query, KEYS);
  const steady = useSteadyRows(rows, (worker) => worker.worker_id, query.get("sort") ?? "");
  const shown = groups(steady.rows, pods);
  const shared = sharedProcesses(shown.map(([pod]) => pod));
  const head = headsOf(query, INITIAL);
  const beats = pods.flatMap(({ workers }) => workers.map(({ last_heartbeat_at }) => last_heartbeat_at ?? ""));
  return html`<${PageHead} title="Workers" scope=${beats.length > 0 && html`last beat <${Ago} at=${beats.sort().pop()} after="ago" />`} />
    <${Pauses} pauses=${pauses} scopes=${["all", "family", "role", "pod", "worker"]} />
    ${answer.data && html`<${Figures} pods=${pods} capacity=${capacity.data} />`}
    ${answer.data?.in_kubernetes && html`<${Replicas} />`}
    <${Panel} title="By pod" scope="memory and CPU are those of the pod's process: raised from 50 %, high from 75 %, critical from 90 %">
      <${Loaded} of=${answer} what="The list of workers">${() =>
        pods.length === 0
          ? html`<${Empty} icon="warn" title="No worker runs">
              <p><code>drover up</code> starts API, schedules and workers in one process; <code>drover worker</code> starts a pod.</p>
            </${Empty}>`
          : html`${head.select}<table class="table fold" ...${steady.hold}>
              <thead><tr>${head("Worker", ["name", "name_desc"])}${head("Tasks", ["tasks_desc", "tasks"], "num")}<th>Ids</th>
                ${head("State", [INITIAL])}
                <th class="w-quarter">Why</th><th class="num"><span class="sr">Actions</span></th></tr></thead>
              <tbody>${shown.map(([pod, workers]) =>
                html`<${Group} key=${pod.name} pod=${pod} process=${shared.get(pod.name)} workers=${workers} pauses=${pauses} />`)}</tbody>
            </table>`}</${Loaded}>
    </${Panel}>`;
}

/** @param {Pod} pod */
const inTroubleFirst = ({ workers }) => [...workers].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));

/** The pods in the order of their first rows, each with its rows. @param {Worker[]} rows @param {Pod[]} pods @returns {[Pod, Worker[]][]} */
function groups(rows, pods) {
  const names = [...new Set(rows.map(({ pod }) => pod))];
  const named = new Map(pods.map((pod) => [pod.name, pod]));
  return names.map((name) => [/** @type {Pod} */ (named.get(name)), rows.filter(({ pod }) => pod === name)]);
}

/** The place in `ORDER` of its worker in most trouble. @param {Pod} pod */
const worst = ({ workers }) => Math.min(...workers.map(({ status }) => ORDER.indexOf(status)));

/** @param {{ pods: Pod[], capacity: Capacity[] | null }} properties */
function Figures({ pods, capacity }) {
  const workers = pods.flatMap((pod) => pod.workers);
  const [tasks, slots] = [pods.reduce((sum, pod) => sum + pod.tasks, 0), pods.reduce((sum, pod) => sum + pod.slots, 0)];
  const held = workers.filter(({ status }) => status === "backing_off").length;
  const other = workers.filter(({ status }) => status === "paused" || status === "draining").length;
  const live = workers.filter(isLive).length;
  const lost = workers.length - live;
  const needed = workersForAll(capacity ?? [], 1);
  return html`<${Strip} label="All workers">
    <${Figure} label="Workers" value=${count(live)} scope=${`in ${plural(pods.length, "pod")}${lost > 0 ? `, ${count(lost)} lost` : ""}`} />
    <${Figure} label="Slots in use" value=${count(tasks)} unit=${`/ ${count(slots)}`}
      scope=${`now, ${share(tasks, slots)}`} href=${link("/admin/tasks", { status: "running" })} />
    <${Figure} label="Backing off" value=${count(held)} kind=${held > 0 ? "hold" : ""}
      icon=${held > 0 && html`<${Icon} name="pause" />`} scope="now, by memory or CPU" />
    <${Figure} label="Paused or draining" value=${count(other)} scope="now, by order" />
    <${Figure} label="Slots for the backlog" value=${needed > 0 ? count(needed) : "–"}
      scope=${needed > 0 ? "to finish it within 1 hour" : "no task waits"} href=${link("/admin/capacity")} />
  </${Strip}>`;
}

/** `process`: the pod above whose process this one shares. @param {{ pod: Pod, process?: string, workers: Worker[], pauses: Pause[] | undefined }} properties */
const Group = ({ pod, process, workers, pauses }) =>
  html`<tr class="group" id=${pod.name.toLowerCase()}>
    <th scope="colgroup" colspan="6" class="key">
      <span class="row"><a href=${link("/admin/job-queue", { pod: pod.name })}><bdi>${pod.name}</bdi></a>
        <span class="scope">${count(pod.tasks)} of ${plural(pod.slots, "task")}</span>
        ${process
          ? html`<span class="scope">process of <bdi>${process}</bdi></span>`
          : html`<span class="row nowrap"><span class="scope">memory</span><${Meter} of="memory" percent=${pod.memory} /></span>
            <span class="row nowrap"><span class="scope">CPU</span><${Meter} of="CPU" percent=${pod.cpu} /></span>`}
        <${PauseButton} scope="pod" of=${pod.name} name=${pod.name} pauses=${pauses} isSmall=${true} /></span></th></tr>
    ${workers.map((worker) => html`<${Row} key=${worker.worker_id} worker=${worker} isPaused=${isPaused(worker, pauses)} />`)}`;

/** A pause is known before its worker reports it. @param {Worker} worker @param {Pause[] | undefined} pauses */
const isPaused = ({ friendly_name: name, status }, pauses) =>
  status === "paused" || (pauses ?? []).some(({ scope, of }) => scope === "worker" && of === name);

const Row = memo((/** @type {{ worker: Worker, isPaused: boolean }} */ { worker, isPaused }) => {
  const isHeld = worker.status !== "active";
  const why = worker.resources.backoff_reason ?? "";
  return html`<tr data-row class=${worker.status === "backing_off" ? "backing" : ""}>
    <th scope="row" class="key">
      <span class="who"><${Ring} tasks=${worker.active_task_count} slots=${worker.max_concurrent_tasks} paused=${isHeld} />
        <a href=${link("/admin/tasks", { worker_id: worker.worker_id })}
          title=${`${worker.worker_id}, roles: ${worker.roles.join(", ") || worker.role}`}>
          <bdi>${worker.friendly_name}</bdi></a></span></th>
    <td class="num fact" data-l="tasks">${count(worker.active_task_count)} / ${count(worker.max_concurrent_tasks)}</td>
    <td class=${worker.current_task_ids.length > 0 ? "fact" : "low"} data-l="ids">${worker.current_task_ids.length > 0
      ? worker.current_task_ids.map((id) => html`<a class="link" key=${id} href=${link(`/admin/tasks/${id}`)}>${id}</a> `)
      : html`<span class="dim">none</span>`}</td>
    <td class="end">${isHeld ? html`<${WorkerState} of=${worker.status} />` : html`<span class="dim">${isPaused ? "Pausing" : "Active"}</span>`}</td>
    <td class="line soft">${why}</td>
    <td class="num line">${may("operator") && html`<${Actions} worker=${worker} isPaused=${isPaused} />`}</td>
  </tr>`;
});

/** @param {{ worker: Worker, isPaused: boolean }} properties */
function Actions({ worker, isPaused }) {
  const order = (/** @type {WorkerCommand} */ command) =>
    send("POST", pathOf(`/api/worker-registry/{id}/${command}`, { id: worker.worker_id }), {});
  const name = worker.friendly_name;
  const decommission = async () => {
    const tasks = worker.active_task_count;
    const body = html`<p>It claims no more tasks, finishes ${tasks > 0 ? `its ${count(tasks)}` : "at once"}
      ${tasks > 0 ? ", and stops" : ""}. Its pod does not replace it.</p>`;
    if (await confirm({ title: `Decommission ${name}?`, body, action: "Decommission", danger: true })) await act(
      () => order("decommission"),
      `${name} is decommissioned: it finishes its tasks, and stops`,
    );
  };
  const toggle = () => act(() => order(isPaused ? "resume" : "pause"), `${name} ${isPaused ? "is resumed" : "is paused: it finishes its tasks"}`);
  return html`<span class="row">
    <${RowAction} action=${isPaused ? "Resume" : "Pause"} of=${name} onClick=${toggle} />
    ${may("admin") && html`<${RowAction} action="Decommission…" of=${name} onClick=${decommission} />`}
  </span>`;
}
