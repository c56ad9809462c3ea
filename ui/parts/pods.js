// @ts-check
// Workers by pod. Pure; pods keep their identity while their workers do.

/** @import { WorkerDocument as Worker } from "../types/api" */

/**
 * @typedef {object} Pod
 * @property {string} name
 * @property {Worker[]} workers by name
 * @property {number} tasks
 * @property {number} slots of workers that are not offline
 * @property {number} memory percent, of the worker with most
 * @property {number} cpu percent, of the worker with most
 */

/** @type {Map<string, Pod>} */
const known = new Map();

/** @param {Worker} worker */
export const isLive = ({ status }) => status !== "offline";

/** In the order of their names. @param {Worker[]} workers @returns {Pod[]} */
export function podsOf(workers) {
  /** @type {Map<string, Worker[]>} */
  const byName = new Map();
  for (const worker of workers) byName.set(worker.pod, [...(byName.get(worker.pod) ?? []), worker]);
  for (const name of known.keys()) if (!byName.has(name)) known.delete(name);
  return [...byName.keys()].sort().map((name) => podOf(name, /** @type {Worker[]} */ (byName.get(name))));
}

/**
 * By the names of pods, the first pod of the same process: it has one memory and one CPU time. Empty for the first ones.
 * @param {Pod[]} pods
 * @returns {Map<string, string>}
 */
export function sharedProcesses(pods) {
  /** @type {Map<string, string>} */
  const first = new Map();
  /** @type {Map<string, string>} */
  const shared = new Map();
  for (const pod of pods) {
    const starts = new Set(pod.workers.filter(isLive).map((worker) => worker.started_at));
    const [start] = starts;
    // workers of another program do not say when they started
    if (starts.size !== 1 || !start) continue;
    const known = first.get(start);
    if (known === undefined) first.set(start, pod.name);
    else shared.set(pod.name, known);
  }
  return shared;
}

/** @param {string} name @param {Worker[]} unsorted */
function podOf(name, unsorted) {
  const workers = unsorted.sort((a, b) => a.friendly_name.localeCompare(b.friendly_name, "en", { numeric: true }));
  const last = known.get(name);
  if (last && last.workers.length === workers.length && last.workers.every((worker, at) => worker === workers[at])) return last;
  const sum = (/** @type {(worker: Worker) => number} */ of) => workers.reduce((all, worker) => all + of(worker), 0);
  const pod = {
    name,
    workers,
    tasks: sum((worker) => worker.active_task_count),
    slots: sum((worker) => (isLive(worker) ? worker.max_concurrent_tasks : 0)),
    memory: Math.max(0, ...workers.filter(isLive).map((worker) => worker.resources.memory_percent)),
    cpu: Math.max(0, ...workers.filter(isLive).map((worker) => worker.resources.cpu_percent)),
  };
  known.set(name, pod);
  return pod;
}
