// @ts-check
// Answers that several parts of a page show. Topics and gap of each are in one place, since one path is read
// in one way.

import { pathOf } from "./api.js";
import { useResource } from "./resource.js";

/** @import { Counts, HealthCounts, WorkerDocument } from "../types/api" */
/** @import { WorkerEvent } from "../types/requests" */

/** Number of tasks by status; its event contains them, so no request is needed. */
export const useCounts = () =>
  useResource(pathOf("/api/tasks/counts"), {
    topics: ["counts"],
    gap: 15_000,
    apply: (data, /** @type {Counts} */ event) => ({ ...data, ...event }),
  });

/** Every worker, with its last heartbeat. */
export const useWorkers = () =>
  useResource(pathOf("/api/worker-registry"), {
    topics: ["worker"],
    gap: 5_000,
    apply: (data, /** @type {WorkerEvent} */ event) => ({ ...data, workers: withWorker(data.workers, event) }),
  });

/** The state in one answer of one moment, so that the same thing has the same number in every part of a page. */
export const useOverview = () =>
  useResource(pathOf("/api/overview"), { topics: ["task", "counts", "worker", "pauses"], gap: 3_000 });

/** The pods, the queue and the running tasks of one moment. */
export const useQueuePicture = () =>
  useResource(pathOf("/api/job-queue/pods"), { topics: ["task", "counts", "worker"], gap: 2_000 });

/** Waiting and running tasks by role, and their durations. */
export const useCapacity = () => useResource(pathOf("/api/tasks/capacity"), { topics: ["counts"], gap: 5_000 });

/** @param {boolean} [isWanted] */
export const useSchedules = (isWanted = true) =>
  useResource(isWanted ? pathOf("/api/schedules") : null, { topics: ["schedule"], gap: 2_000 });

/** The first 500. */
export const useProxies = () =>
  useResource(pathOf("/api/proxies", { limit: 500 }), { topics: ["proxies", "rollups"], gap: 10_000 });

/** The numbers beside the names of pages; the event of proxies contains theirs. */
export const useNavigation = () =>
  useResource(pathOf("/api/overview/navigation"), {
    topics: ["proxies", "rollups", "quality", "pauses"],
    gap: 10_000,
    apply: (data, event, topic) => (topic === "proxies" ? { ...data, proxies: /** @type {HealthCounts} */ (event) } : undefined),
  });

/** Hosts whose breakers are not closed; the first 500. */
export const useHeldHosts = () =>
  useResource(pathOf("/api/hosts", { on_hold: true, limit: 500 }), { topics: ["rollups"], gap: 15_000 });

/** The first 500. */
export const useHosts = () => useResource(pathOf("/api/hosts", { limit: 500 }), { topics: ["rollups"], gap: 15_000 });

/** @param {WorkerDocument[]} workers @param {WorkerEvent} worker */
function withWorker(workers, worker) {
  const others = workers.filter((each) => each.worker_id !== worker.worker_id);
  if (worker.gone) return others;
  if (others.length < workers.length) return workers.map((each) => (each.worker_id === worker.worker_id ? worker : each));
  return [...workers, worker];
}
