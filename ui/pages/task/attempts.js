// @ts-check
// The attempts of a task on one time axis, newest first: waits dashed, runs filled, with the reason of each
// end.

import { count, duration, plural } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { Axis, timeAxis } from "../../parts/chart.js";
import { Ago } from "../../parts/time.js";
import { Outcome } from "../../parts/status.js";

/** @import { AttemptView as Attempt, ProxyListing, TaskDetail } from "../../types/api" */
/**
 * The detail of an attempt, as far as it is shown.
 * @typedef {{ proxy_ids?: number[], fingerprint?: string, requests?: number, blocks?: number }} Detail
 */

/** Words for ends without a fault of the task. @type {Record<string, string>} */
const WORDS = {
  lost: "The worker's process ended while it ran, or was silent for too long; the task went back to the queue. No retry was spent.",
  released: "The worker gave it back before its end. No retry was spent.",
  snoozed: "It could not run then, and waits to run again. No retry was spent.",
  waiting: "It created tasks, and the task runs again when they have ended. No retry was spent.",
  cancelled: "It was cancelled while it ran.",
};
const SHOWN = 20;

/** @param {{ task: TaskDetail, proxies: ProxyListing[], now: number }} properties `now` in milliseconds */
export function Attempts({ task, proxies, now }) {
  const { attempts } = task;
  if (attempts.length === 0) {
    return html`<p class="panel-body dim">
      ${task.status === "pending"
        ? (task.ready
          ? "It is ready, and waits for a free worker."
          : "It waits: for its time, for its store, or for another task.")
        : "It never ran."}</p>`;
  }
  const shown = attempts.slice(-SHOWN);
  const axis = axisOf(shown[0] === attempts[0] ? task.created_at : shown[0].claimed_at, shown, now);
  const names = new Map(proxies.map((proxy) => [proxy.id, `${proxy.host}:${proxy.port}`]));
  return html`<div class="panel-body"><ol class="attempts">
    ${shown
      .map((attempt, at) => {
        const waitedSince = at > 0 ? shown[at - 1].finished_at : shown[0] === attempts[0] ? task.created_at : null;
        const isLast = at === shown.length - 1;
        return html`<${Line} key=${attempt.fence} attempt=${attempt} number=${attempts.length - shown.length + at + 1}
          waitedSince=${waitedSince} axis=${axis}
          error=${attempt.error ?? (isLast ? task.error_message : null)}
          progress=${isLast && attempt.outcome == null ? progressOf(task) : null}
          proxies=${proxiesOf(attempt, names)} />`;
      })
      .reverse()}
    <li aria-hidden="true"><div class="not-phone"></div>
      <${Axis} labels=${timeAxis(axis.begin, axis.begin + axis.length)} /></li>
  </ol></div>`;
}

/** @param {TaskDetail} task */
const progressOf = (task) =>
  task.progress_percent === null && !task.progress_message
    ? "begun"
    : `${task.progress_percent ?? 0}|${task.progress_message ?? ""}`;

/** @param {Attempt} attempt @param {Map<number, string>} names */
function proxiesOf(attempt, names) {
  const ids = /** @type {Detail | null | undefined} */ (attempt.detail)?.proxy_ids ?? [];
  return ids.map((id) => names.get(id) ?? `proxy ${id}`).join(", ");
}

/** From the first wait to the last end, or now. @param {string} from @param {Attempt[]} attempts @param {number} now */
function axisOf(from, attempts, now) {
  const begin = Date.parse(from);
  const ends = attempts.map((attempt) => (attempt.finished_at ? Date.parse(attempt.finished_at) : now));
  return { begin, length: Math.max(1, Math.max(...ends) - begin), now };
}

/**
 * @typedef {object} LineProperties
 * @property {Attempt} attempt
 * @property {number} number
 * @property {string | null | undefined} waitedSince
 * @property {{ begin: number, length: number, now: number }} axis
 * @property {string | null} error
 * @property {string | null} progress
 * @property {string} proxies
 */

const Line = memo((/** @type {LineProperties} */ { attempt, number, waitedSince, axis, error, progress, proxies }) => {
  const [from, to] = [Date.parse(attempt.claimed_at), attempt.finished_at ? Date.parse(attempt.finished_at) : axis.now];
  const share = (/** @type {number} */ time) => (100 * (time - axis.begin)) / axis.length;
  const waited = waitedSince ? Date.parse(waitedSince) : from;
  const { fingerprint, requests, blocks = 0 } = /** @type {Detail | null | undefined} */ (attempt.detail) ?? {};
  const facts = [
    `fence ${count(attempt.fence)}`,
    fingerprint,
    proxies && `through ${proxies}`,
    requests !== undefined && plural(requests, "request"),
    blocks > 0 && plural(blocks, "block"),
  ];
  const kind = attempt.outcome === "failed" ? "cbad" : attempt.outcome === "completed" || attempt.outcome == null ? "c1" : "c3";
  return html`<li>
    <div><p><b>Attempt ${count(number)}</b> <${Outcome} of=${attempt.outcome ?? null} /></p>
      <p class="scope"><${Worker} of=${attempt} /> · ${duration((to - from) / 1000)}</p></div>
    <div><div class="span" aria-hidden="true">
        ${from > waited && html`<i class="wait" style=${{ "--from": share(waited), "--for": share(from) - share(waited) }}></i>`}
        <i class=${kind} style=${{ "--from": share(from), "--for": Math.max(0.3, share(to) - share(from)) }}></i></div>
      ${progress && html`<${Going} progress=${progress} />`}
      ${attempt.outcome && attempt.outcome !== "completed" &&
        html`<p class="why">${attempt.outcome === "failed" ? error ?? "No reason was given." : WORDS[attempt.outcome]}</p>`}
      <p class="scope">${facts.filter(Boolean).join(" · ")} · began <${Ago} at=${attempt.claimed_at} after="ago" /></p></div>
  </li>`;
});

/** Its name, as on other pages, and its id, as in the log. @param {{ of: Attempt }} properties */
const Worker = ({ of: { worker_name: name, worker_id: id } }) =>
  (name && name !== id ? html`<bdi>${name}</bdi>, <span class="mono">${id}</span>` : html`<span class="mono">${id}</span>`);

/** @param {{ progress: string }} properties percent and words, or that it has begun */
function Going({ progress }) {
  if (progress === "begun") return html`<p class="why dim">It has started; no progress was reported yet.</p>`;
  const [percent, text] = progress.split("|", 2);
  return html`<div class="row nowrap">
    <div class="progress grow" style=${{ "--v": percent }} role="progressbar" aria-label="Progress"
      aria-valuenow=${percent} aria-valuemin="0" aria-valuemax="100"><i></i></div><b class="num">${percent} %</b></div>
    ${text && html`<p class="why">${text}</p>`}`;
}
