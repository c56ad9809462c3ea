// @ts-check
// The hub: a list of pods, each with its workers, around the queue. One tab stop: arrows left and right go
// round the pods, down and up into a pod's workers.

import { link } from "../../core/base.js";
import { count, plural } from "../../core/format.js";
import { html, memo, useRef, useState } from "../../core/html.js";
import { Icon } from "../../parts/icon.js";
import { Ring } from "../../parts/ring.js";
import { Ago } from "../../parts/time.js";

/** @import { Pod } from "../../parts/pods.js" */
/** @import { WorkerDocument as Worker } from "../../types/api" */
/** @typedef {{ x: number, y: number }} Place from −1 to 1 */

/** Number of pods from which on everything is smaller. */
const DENSE_FROM = 9;
const QUEUE_RADIUS = 22.5;

/** @param {{ pods: Pod[], selected: string | null, pending: number | null }} properties */
export function Hub({ pods, selected, pending }) {
  const isDense = pods.length >= DENSE_FROM;
  const { stop, onKeyDown, list } = useOneStop(pods);
  const [tasks, slots] = [pods.reduce((sum, pod) => sum + pod.tasks, 0), pods.reduce((sum, pod) => sum + pod.slots, 0)];
  const places = pods.map((pod, at) => layout(pod, at, pods.length, isDense));
  return html`<div class=${`hub ${isDense ? "dense" : ""}`}>
    <svg class="lines" viewBox="-100 -100 200 200" aria-hidden="true">
      ${pods.map((pod, at) => html`<${Lines} key=${pod.name} tasks=${pod.tasks} isOn=${pod.name === selected}
        path=${spokes(places[at])} />`)}</svg>
    <div class="core"><svg viewBox="0 0 120 120" aria-hidden="true" fill="none" stroke-width="5">
      <circle cx="60" cy="60" r="56" stroke="var(--track)" />
      <circle cx="60" cy="60" r="56" stroke="var(--accent)" pathLength=${Math.max(1, slots)}
        stroke-dasharray=${`${tasks} ${Math.max(1, slots)}`} transform="rotate(-90 60 60)" /></svg>
      <p><a href=${link("/admin/tasks", { status: "pending" })}><b>${count(pending)}</b>pending</a></p>
      <p class="dim">${count(tasks)} of ${count(slots)} <br class="not-phone" />run</p></div>
    <ol class="pods" aria-label="Pods around the queue" ref=${list} onKeyDown=${onKeyDown}>
      ${pods.map((pod, at) => html`<${PodNode} key=${pod.name} pod=${pod} x=${places[at].pod.x} y=${places[at].pod.y}
        workers=${places[at].workers} isOn=${pod.name === selected} stop=${stop} />`)}
    </ol>
  </div>`;
}

/**
 * Positions of a pod and its workers.
 * @param {Pod} pod @param {number} at @param {number} pods @param {boolean} isDense
 * @returns {{ pod: Place, workers: Place[] }}
 */
function layout(pod, at, pods, isDense) {
  const angle = -90 + (at * 360) / pods;
  const number = pod.workers.length;
  const most = (isDense ? 72 : 300) / Math.max(1, isDense ? number : pods);
  const step = isDense ? Math.min(4.8, 72 / pods) : Math.min(13, most / Math.max(1, number - 1));
  const workers = pod.workers.map((_, worker) => place(angle + (worker - (number - 1) / 2) * step, isDense ? 0.93 : 0.85));
  return { pod: place(angle, isDense ? 0.62 : 0.49), workers };
}

/** @param {number} angle in degrees @param {number} radius @returns {Place} */
function place(angle, radius) {
  const radians = (angle * Math.PI) / 180;
  return { x: round(Math.cos(radians) * radius), y: round(Math.sin(radians) * radius) };
}

/** @param {number} number */
const round = (number) => Math.round(number * 1000) / 1000;

/** Lines from the queue to the pod, and from there to its workers. @param {{ pod: Place, workers: Place[] }} places */
function spokes({ pod, workers }) {
  const length = Math.hypot(pod.x, pod.y) || 1;
  const begin = [(pod.x / length) * QUEUE_RADIUS, (pod.y / length) * QUEUE_RADIUS];
  const end = [pod.x * 100, pod.y * 100];
  const text = (/** @type {number[]} */ point) => point.map((number) => number.toFixed(1)).join(" ");
  const bend = workers.map(({ x, y }) => [(pod.x * 100 * 1.42 + x * 100) / 2.2, (pod.y * 100 * 1.42 + y * 100) / 2.2]);
  return [
    `M${text(begin)}L${text(end)}`,
    workers.map(({ x, y }, at) => `M${text(end)}Q${text(bend[at])} ${text([x * 100, y * 100])}`).join(""),
  ].join("|");
}

const Lines = memo((/** @type {{ tasks: number, isOn: boolean, path: string }} */ { tasks, isOn, path }) => {
  const [spoke, workers] = path.split("|");
  return html`<path class=${`spoke ${isOn ? "on" : ""}`} stroke-width=${1.2 + 0.42 * tasks} d=${spoke} />
    <path class=${isOn ? "on" : ""} d=${workers} />`;
});

/** @typedef {Place & { pod: Pod, workers: Place[], isOn: boolean, stop: string }} PodOnHub */

const PodNode = memo((/** @type {PodOnHub} */ { pod, x, y, workers, isOn, stop }) => {
  const held = pod.workers.filter((worker) => worker.status !== "active").length;
  return html`<li class=${`pod ${isOn ? "is-on" : ""}`} style=${{ "--x": x, "--y": y }}>
    <a href=${link("/admin/job-queue", { pod: isOn ? null : pod.name })} data-node=${pod.name}
      tabindex=${stop === pod.name ? 0 : -1} aria-current=${isOn ? "true" : undefined}>
      <b><bdi>${pod.name}</bdi></b>
      <span class="dim">${count(pod.tasks)} / ${count(pod.slots)}
        <span class="sr"> tasks, memory ${Math.round(pod.memory)} %, CPU ${Math.round(pod.cpu)} %${held > 0 && `, ${count(held)} of its workers held up`}</span></span></a>
    <ul aria-label=${`Workers of ${pod.name}`}>
      ${pod.workers.map((worker, at) =>
        html`<${WorkerNode} key=${worker.worker_id} worker=${worker} number=${at + 1} x=${workers[at].x}
          y=${workers[at].y} stop=${stop} />`)}</ul>
  </li>`;
}, samePlaces);

/** Places are computed again; equal ones are the same. @param {unknown} a @param {unknown} b */
function samePlaces(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((place, at) => place.x === b[at].x && place.y === b[at].y);
}

/** @typedef {Place & { worker: Worker, number: number, stop: string }} WorkerOnHub */

const WorkerNode = memo((/** @type {WorkerOnHub} */ { worker, number, x, y, stop }) => {
  const reason = worker.resources.backoff_reason;
  const isHeld = worker.status !== "active";
  const tasks = `${count(worker.active_task_count)} of ${plural(worker.max_concurrent_tasks, "task")}`;
  const state = isHeld ? `, ${worker.status.replace("_", " ")}${reason ? `: ${reason}` : ""}` : "";
  const label = `${worker.friendly_name}: ${tasks}${state}`;
  return html`<li class=${`worker ${isHeld ? "backing" : ""} ${x < -0.2 ? "to-left" : ""} ${y < 0 ? "to-top" : ""}`}
    style=${{ "--x": x, "--y": y }}>
    <a href=${link("/admin/tasks", { worker_id: worker.worker_id, status: "running" })} data-node=${worker.worker_id}
      tabindex=${stop === worker.worker_id ? 0 : -1} aria-label=${label}>
      <${Ring} tasks=${worker.active_task_count} slots=${worker.max_concurrent_tasks} />
      ${isHeld ? html`<${Icon} name="pause" />` : number}</a>
    <div class="card" aria-hidden="true">
      <b><bdi>${worker.friendly_name}</bdi></b> <span class="dim">
        ${worker.role === "any" ? "any role" : worker.role} · beat <${Ago} at=${worker.last_heartbeat_at} after="ago" /></span>
      <dl class="facts"><dt>Runs</dt><dd>${tasks}: ${worker.current_task_ids.join(", ") || "none"}</dd></dl>
      ${isHeld && html`<p class="hold"><${Icon} name="pause" /> ${worker.status.replace("_", " ")}${reason && `: ${reason}`}</p>`}</div>
  </li>`;
});

/** The one node that Tab reaches, and the arrows from it. @param {Pod[]} pods */
function useOneStop(pods) {
  const [wanted, become] = useState("");
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const all = pods.flatMap((pod) => [pod.name, ...pod.workers.map(({ worker_id }) => worker_id)]);
  const stop = all.includes(wanted) ? wanted : pods[0]?.name ?? "";
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const to = neighbour(pods, stop, event.key);
    if (!to) return;
    event.preventDefault();
    become(to);
    const node = /** @type {HTMLElement | null | undefined} */ (list.current?.querySelector(`[data-node="${CSS.escape(to)}"]`));
    node?.focus();
  };
  return { stop, onKeyDown, list };
}

/** @param {Pod[]} pods @param {string} stop @param {string} key @returns {string | null} */
function neighbour(pods, stop, key) {
  const at = pods.findIndex((pod) => pod.name === stop || pod.workers.some(({ worker_id }) => worker_id === stop));
  if (at < 0) return null;
  const workers = pods[at].workers.map(({ worker_id }) => worker_id);
  const worker = workers.indexOf(stop);
  const round = (/** @type {number} */ step) => pods[(at + step + pods.length) % pods.length].name;
  if (key === "ArrowRight") return worker < 0 ? round(1) : workers[(worker + 1) % workers.length];
  if (key === "ArrowLeft") return worker < 0 ? round(-1) : workers[(worker - 1 + workers.length) % workers.length];
  if (key === "ArrowDown") return worker < 0 ? workers[0] ?? null : null;
  if (key === "ArrowUp") return worker < 0 ? null : pods[at].name;
  return null;
}
