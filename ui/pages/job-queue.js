// @ts-check
// The job queue: the hub of queue, pods and workers, and the running tasks, only the selected pod's if one is
// selected.

import { useQueuePicture } from "../core/answers.js";
import { link } from "../core/base.js";
import { count, plural } from "../core/format.js";
import { html, useEffect } from "../core/html.js";
import { setQuery } from "../core/router.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { PauseChoice, Pauses, usePauses } from "../parts/pause.js";
import { isLive, podsOf } from "../parts/pods.js";
import { useSteadyRows, Waiting } from "../parts/rows.js";
import { TaskActions } from "../parts/task-actions.js";
import { Hub } from "./job-queue/hub.js";
import { PodFacts } from "./job-queue/pod-facts.js";
import { useSamples } from "./job-queue/usage.js";
import { Row } from "./tasks/row.js";

/** @import { Answer } from "../core/resource.js" */
/** @import { Pod } from "../parts/pods.js" */
/** @import { QueuePicture } from "../types/api" */

const SHOWN = 50;

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const answer = useQueuePicture();
  const pauses = usePauses();
  usePage("Job queue", answer);
  const counts = answer.data?.queue ?? null;
  const workers = (answer.data?.pods ?? []).flatMap((pod) => pod.workers);
  const pods = podsOf(workers);
  const pod = pods.find(({ name }) => name === query.get("pod")) ?? null;
  useEscape(!!pod);
  useSamples(pods);
  const number = workers.filter(isLive).length;
  const slots = pods.reduce((sum, each) => sum + each.slots, 0);
  return html`<${PageHead} title="Job queue"
    scope=${answer.data && `${plural(pods.length, "pod")}, ${plural(number, "worker")}, ${plural(slots, "slot")}`}><${TaskActions}><${PauseChoice} /></${TaskActions}></${PageHead}>
    <${Pauses} pauses=${pauses.data?.pauses} />
    <div class="cols two">
      <${Panel} title="Map" scope="ring: one arc a slot; filled arcs are tasks">
        <${Loaded} of=${answer} what="The list of workers" rows=${8}>${() =>
          pods.length === 0
            ? html`<${Empty} icon="warn" title="No worker runs">
                <p>${counts && waitText(counts.pending)}
                  <code>drover up</code> starts API, schedules and workers; <code>drover worker</code> starts a pod.</p></${Empty}>`
            : html`<div class="panel-body">
                <${Hub} pods=${pods} selected=${pod?.name ?? null} pending=${counts?.pending ?? null} /></div>`}</${Loaded}>
      </${Panel}>
      <div class="stack"><${PodFacts} pod=${pod} pods=${pods} counts=${counts} failed=${answer.data?.failed_last_hour ?? {}}
        pauses=${pauses.data?.pauses} /></div>
    </div>
    <${Tasks} answer=${answer} pod=${pod} />`;
}

/** @param {number} pending */
const waitText = (pending) => `${plural(pending, "task")} ${pending === 1 ? "waits" : "wait"} in the queue. `;

/** Escape undoes the selection. @param {boolean} isSelected */
function useEscape(isSelected) {
  useEffect(() => {
    if (!isSelected) return undefined;
    const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]") &&
        !document.activeElement?.matches("input, select, textarea")) setQuery({ pod: null });
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [isSelected]);
}

/** @param {{ answer: Answer<QueuePicture>, pod: Pod | null }} properties */
function Tasks({ answer, pod }) {
  const ids = new Set(pod?.workers.map(({ worker_id }) => worker_id));
  const all = (answer.data?.running ?? []).filter((task) => !pod || ids.has(task.worker_id ?? ""));
  const steady = useSteadyRows(all.slice(0, SHOWN), (task) => task.id, pod?.name ?? "");
  const queue = answer.data?.queue;
  const number = pod ? pod.tasks : queue ? queue.running + queue.claimed : 0;
  const more = html`<a class="more" href=${link("/admin/tasks", { status: "running" })}>All tasks that run</a>`;
  return html`<${Panel} id="pod-tasks" title=${pod ? `Running on ${pod.name}` : "Running"}
    scope=${answer.data && `${count(steady.rows.length)} of ${count(number)}, longest first`} more=${more}>
    <${Loaded} of=${answer} what="The list of running tasks">${() =>
      steady.rows.length === 0
        ? html`<p class="panel-body dim">No task runs ${pod ? `on ${pod.name}` : ""} at the moment.</p>`
        : html`<${Waiting} waiting=${steady.waiting} onShow=${steady.show} /><table class="table fold" ...${steady.hold}>
            <thead><tr><th class="w-fifth">Store</th><th class="num">Task</th><th>Role</th><th>Worker</th>
              <th class="num">Retries</th><th class="w-third">Progress</th><th class="num">Ran</th><th class="num">When</th></tr></thead>
            <tbody>${steady.rows.map((task) =>
              html`<${Row} key=${task.id} task=${task} isSelected=${false} onSelect=${null} withStatus=${false} />`)}</tbody>
          </table>`}</${Loaded}>
  </${Panel}>`;
}
