// @ts-check
// Words for states, each with its mark. Only states that need a person have a coloured ground.

import { html } from "../core/html.js";
import { sentence } from "../core/format.js";
import { Icon } from "./icon.js";

/** Class, icon and word. @type {Record<string, [string, string, string]>} */
const TASK = {
  pending: ["pending", "pending", "Pending"],
  claimed: ["claimed", "claimed", "Claimed"],
  running: ["running", "running", "Running"],
  completed: ["done", "done", "Completed"],
  failed: ["failed", "failed", "Failed"],
  cancelled: ["cancelled", "cancelled", "Cancelled"],
  stale: ["stale", "stale", "Stale"],
};

/** @type {Record<string, [string, string, string]>} */
const OUTCOME = {
  completed: TASK.completed,
  failed: TASK.failed,
  cancelled: TASK.cancelled,
  lost: ["stale", "stale", "Lost"],
  released: ["pending", "pending", "Released"],
  snoozed: ["stale", "stale", "Snoozed"],
  waiting: ["pending", "pending", "Waiting"],
};

/** @type {Record<string, [string, string, string]>} */
const WORKER = {
  active: ["done", "dot", "Active"],
  backing_off: ["backing", "pause", "Backing off"],
  paused: ["backing", "pause", "Paused"],
  draining: ["stale", "stale", "Draining"],
  offline: ["failed", "failed", "Offline"],
};

/** @type {Record<string, [string, string, string]>} */
const PROXY = {
  untested: ["pending", "pending", "Untested"],
  healthy: ["done", "done", "Healthy"],
  refused: ["retrying", "warn", "Refused"],
  failing: ["failed", "failed", "Failing"],
  benched: ["benched", "pause", "Benched"],
  off: ["off", "off", "Off"],
};

/** @type {Record<string, [string, string, string]>} */
const STORE = {
  fresh: ["done", "done", "Fresh"],
  late: ["stale", "stale", "Late"],
  never_crawled: ["pending", "pending", "Never crawled"],
  needs_menu_id: ["failed", "failed", "Needs a menu id"],
  empty_menu: ["failed", "failed", "Empty menu"],
  held: ["backing", "pause", "Held"],
  disabled: ["off", "off", "Disabled"],
};

/** @type {Record<string, [string, string, string]>} */
const BREAKER = {
  closed: ["closed", "closed", "Closed"],
  open: ["open", "open", "Open"],
  half_open: ["half", "half", "Half-open"],
};

/** @param {{ of: string, title?: string }} properties */
export const TaskStatus = ({ of, title }) => mark(TASK, of, title);
/** @param {{ of: string | null }} properties of an attempt; null: it is going on */
export const Outcome = ({ of }) => (of === null ? mark(TASK, "running") : mark(OUTCOME, of));
/** @param {{ of: string, title?: string }} properties */
export const WorkerState = ({ of, title }) => mark(WORKER, of, title);
/** @param {{ of: string, title?: string }} properties */
export const ProxyState = ({ of, title }) => mark(PROXY, of, title);
/** @param {{ of: string, title?: string }} properties the state of a store's crawls, or disabled */
export const StoreState = ({ of, title }) => mark(STORE, of, title);
/** @param {{ of: string, title?: string }} properties */
export const BreakerState = ({ of, title }) => mark(BREAKER, of, title);

/** The icon of a task's status. @param {string} status */
export const taskIcon = (status) => TASK[status]?.[1] ?? "dot";

/** A custom mark. @param {{ kind: string, icon: string, word: string, title?: string }} properties */
export const Status = ({ kind, icon, word, title }) =>
  html`<span class=${`status ${kind}`} title=${title}><${Icon} name=${icon} />${word}</span>`;

/** @param {Record<string, [string, string, string]>} words @param {string} of @param {string} [title] */
function mark(words, of, title) {
  const [kind, icon, word] = words[of] ?? ["", "dot", sentence(of)];
  return html`<${Status} kind=${kind} icon=${icon} word=${word} title=${title} />`;
}
