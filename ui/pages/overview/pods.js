// @ts-check
// Pods: a row per pod, a ring per worker.

import { link } from "../../core/base.js";
import { count, plural } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { Meter } from "../../parts/meter.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { isLive, podsOf, sharedProcesses } from "../../parts/pods.js";
import { Ring } from "../../parts/ring.js";
import { Status } from "../../parts/status.js";

/** @import { Answer } from "../../core/resource.js" */
/** @import { Pod } from "../../parts/pods.js" */
/** @import { OverviewAnswer } from "../../types/api" */

const MAX_RINGS = 20;

/** @param {{ of: Answer<OverviewAnswer> }} properties */
export function Pods({ of }) {
  const pods = podsOf(of.data?.workers ?? []);
  const shared = sharedProcesses(pods);
  const workers = of.data?.workers.filter(isLive).length ?? 0;
  const slots = pods.reduce((sum, pod) => sum + pod.slots, 0);
  const more = html`<a class="more" href=${link("/admin/job-queue")}>Job queue</a>`;
  return html`<${Panel} title="Where it runs"
    scope=${of.data && `${plural(pods.length, "pod")}, ${plural(workers, "worker")}, ${plural(slots, "slot")}`} more=${more}>
    <${Loaded} of=${of} what="The list of workers">${() =>
      pods.length === 0
        ? html`<${Empty} icon="warn" title="No worker runs">
            <p><code>drover up</code> starts API, schedules and workers; <code>drover worker</code> starts a pod.</p></${Empty}>`
        : html`<table class="table fold">
            <thead><tr><th>Pod</th><th>Workers</th><th class="num">Tasks</th><th>Memory</th><th>CPU</th></tr></thead>
            <tbody>${pods.map((pod) => html`<${Row} key=${pod.name} pod=${pod} process=${shared.get(pod.name)} />`)}</tbody>
          </table>`}</${Loaded}>
  </${Panel}>`;
}

/** `process`: the pod above whose process this one shares. */
const Row = memo((/** @type {{ pod: Pod, process?: string }} */ { pod, process }) => {
  const held = pod.workers.filter((worker) => worker.status !== "active");
  return html`<tr data-row>
    <th scope="row" class="key"><a href=${link("/admin/job-queue", { pod: pod.name })}><bdi>${pod.name}</bdi></a><br />
      ${held.length > 0
        ? html`<${Status} kind="backing" icon="pause"
            word=${`${count(held.length)} ${held[0].status === "backing_off" ? "backs off" : held[0].status.replace("_", " ")}`}
            title=${held.map((worker) => `${worker.friendly_name}: ${worker.resources.backoff_reason ?? worker.status}`).join("; ")} />`
        : html`<span class="scope">Normal</span>`}</th>
    <td class="line"><span class="rings">
      ${pod.workers.slice(0, MAX_RINGS).map((worker) =>
        html`<span key=${worker.worker_id}
          title=${`${worker.friendly_name}: ${worker.active_task_count} of ${plural(worker.max_concurrent_tasks, "task")}`}>
          <${Ring} tasks=${worker.active_task_count} slots=${worker.max_concurrent_tasks} paused=${worker.status !== "active"} /></span>`)}
      ${pod.workers.length > MAX_RINGS && html`<span class="dim">+${count(pod.workers.length - MAX_RINGS)}</span>`}
    </span></td>
    <td class="num fact" data-l="tasks">${count(pod.tasks)} / ${count(pod.slots)}</td>
    ${process
      ? html`<td class="fact" colspan="2"><span class="dim">process of <bdi>${process}</bdi></span></td>`
      : html`<td class="fact" data-l="memory"><${Meter} of="memory" percent=${pod.memory} /></td>
        <td class="fact" data-l="CPU"><${Meter} of="CPU" percent=${pod.cpu} /></td>`}
  </tr>`;
});
