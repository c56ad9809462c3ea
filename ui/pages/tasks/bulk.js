// @ts-check
// Actions on the selected tasks, or on all that match. The server counts first: "37 match, 35 eligible".

import { get, pathOf, Refusal, send } from "../../core/api.js";
import { count, plural } from "../../core/format.js";
import { html, useEffect, useState } from "../../core/html.js";
import { reloadAll } from "../../core/resource.js";
import { TASK_PRIORITY } from "../../core/vocabulary.js";
import { BulkBar } from "../../parts/bulk-bar.js";
import { confirm } from "../../parts/dialog.js";
import { FormDialog } from "../../parts/form.js";
import { Icon } from "../../parts/icon.js";
import { asBody, asText } from "../../parts/query-box.js";
import { refusalText, toast } from "../../parts/toast.js";

/** @import { BulkAction, BulkAnswer, Operation } from "../../types/api" */
/** @import { Filters } from "../../parts/query-box.js" */
/** @import { BodyOf } from "../../types/requests" */
/**
 * The tasks that a change is for.
 * @typedef {Pick<BodyOf<"/api/tasks/bulk", "POST">, "ids" | "filter">} Target
 */
/**
 * The answer where the tasks are only counted.
 * @typedef {Extract<BulkAnswer, { eligible: number }>} Counted
 */
/**
 * The answer where they are changed: at once, or by an operation that goes on.
 * @typedef {Exclude<BulkAnswer, Counted>} Changed
 */
/** @typedef {(operation: Operation | null) => void} Follow */
/** @typedef {Exclude<BulkAction, "reprioritize">} Action */

/** Number of tasks above which a deletion must be typed. */
const TYPED_FROM = 1_000;
const POLL_MS = 1_000;

/** @type {Record<string, { verb: string, done: string, danger?: boolean, more: string }>} */
const ACTIONS = {
  retry: { verb: "Retry", done: "put back to pending", more: "Each goes back to the queue with its earlier attempts kept." },
  cancel: { verb: "Cancel", done: "cancelled", danger: true, more: "Those that run are stopped." },
  delete: { verb: "Delete", done: "deleted", danger: true, more: "Their attempts are deleted, too. This cannot be undone." },
};

/** @param {{ selected: Set<number>, onDone: () => void, filters: Filters, isEmpty: boolean }} properties */
export function Bulk({ selected, onDone, filters, isEmpty }) {
  const [isAll, takeAll] = useState(false);
  const [operation, follow] = useState(/** @type {Operation | null} */ (null));
  const [isMoving, move] = useState(false);
  const filterText = asText(filters);
  useEffect(() => takeAll(false), [filters.query.toString(), selected.size === 0]);
  useEffect(() => followOperation(operation, follow), [operation]);

  /** @type {Target} */
  const target = isAll ? { filter: /** @type {Target["filter"]} */ (asBody(filters)) } : { ids: [...selected] };
  const number = isAll ? "all" : count(selected.size);
  const done = () => {
    takeAll(false);
    onDone();
  };
  const run = async (/** @type {Action} */ action) => {
    try {
      await change(action, target, isAll ? filterText : "", follow) && done();
    } catch (error) {
      toast("bad", refusalText(error));
    }
  };
  const reprioritize = async (/** @type {{ priority: number }} */ values) => {
    const body = { action: /** @type {const} */ ("reprioritize"), priority: values.priority, ...target };
    const answer = /** @type {Changed} */ (await send("POST", pathOf("/api/tasks/bulk"), body));
    if ("id" in answer) follow(answer);
    done();
    return answer;
  };
  const isNone = selected.size === 0 && !isAll;
  const button = (/** @type {Action} */ action, /** @type {string} */ kind, /** @type {string} */ icon) =>
    html`<button class=${`btn small ${kind}`} type="button" disabled=${isNone}
      data-key=${action === "retry" ? "r" : undefined} onClick=${() => run(action)}>
      ${icon && html`<${Icon} name=${icon} />`}${ACTIONS[action].verb}${isNone ? "" : ` ${number}`}…</button>`;
  // an operation under way goes on, and is shown, when nothing matches any more
  if (isEmpty) return operation && html`<${Going} operation=${operation} />`;
  return html`<${BulkBar} selected=${selected.size} isAll=${isAll} onTake=${takeAll} isAllOffered=${filterText !== ""} filterText=${filterText}>
      ${button("retry", "primary", "retrying")}${button("cancel", "", "")}
      <button class="btn small" type="button" disabled=${isNone} onClick=${() => move(true)}>Priority…</button>
      ${button("delete", "danger", "")}
    </${BulkBar}>
    ${operation && html`<${Going} operation=${operation} />`}
    ${isMoving &&
    html`<${FormDialog} title=${`Priority of ${isAll ? "all that match" : plural(selected.size, "task")}`} action="Save"
      onClose=${() => move(false)} submit=${reprioritize}
      fields=${[{
        name: "priority",
        label: "Priority",
        type: "number",
        min: -1000,
        max: 1000,
        value: 0,
        required: true,
        help: `${TASK_PRIORITY}; only of pending tasks`,
      }]}
      done=${(/** @type {Changed} */ answer) => ("id" in answer ? "The change goes on" : `${plural(answer.done, "task")} changed`)} />`}`;
}

/** @param {{ operation: Operation }} properties */
function Going({ operation: { action, done, failed, matched } }) {
  const percent = (100 * (done + failed)) / Math.max(1, matched);
  return html`<p class="panel-body" role="status">
    ${ACTIONS[action]?.verb ?? "Change"}: ${count(done + failed)} of ${count(matched)}
    <span class="progress" style=${{ "--v": percent }}><i></i></span></p>`;
}

/** Follows it until it has ended. @param {Operation | null} operation @param {Follow} follow */
function followOperation(operation, follow) {
  if (!operation) return undefined;
  if (operation.ended_at) {
    const problems = operation.failed > 0 ? `, ${count(operation.failed)} were left out` : "";
    toast(
      operation.error ? "bad" : operation.failed > 0 ? "warn" : "good",
      operation.error ?? `${plural(operation.done, "task")} ${ACTIONS[operation.action]?.done ?? "changed"}${problems}`,
    );
    reloadAll();
    follow(null);
    return undefined;
  }
  let isCurrent = true;
  const become = (/** @type {Operation | null} */ next) => isCurrent && follow(next);
  const timer = setTimeout(
    () => get(pathOf("/api/operations/{id}", { id: operation.id })).then(become, (error) => unfollow(error, operation, become)),
    POLL_MS,
  );
  return () => {
    isCurrent = false;
    clearTimeout(timer);
  };
}

/**
 * Asks an unreachable server again, but not for an operation that does not exist.
 * @param {unknown} error
 * @param {Operation} operation
 * @param {Follow} follow
 */
function unfollow(error, operation, follow) {
  if (error instanceof Refusal && error.status >= 400 && error.status < 500 && error.status !== 429) {
    toast("bad", `The result of the change cannot be read: ${refusalText(error)}`);
    return follow(null);
  }
  return follow({ ...operation });
}

/**
 * Counts, asks, and does it.
 * @param {Action} action
 * @param {Target} target
 * @param {string} filterText empty for a selection
 * @param {Follow} follow
 * @returns {Promise<boolean>} whether it was begun
 */
async function change(action, target, filterText, follow) {
  const { verb, done, danger, more } = ACTIONS[action];
  const path = pathOf("/api/tasks/bulk");
  const { matched, eligible } = /** @type {Counted} */ (await send("POST", path, { action, dry_run: true, ...target }));
  if (eligible === 0) {
    toast("warn", `${count(matched)} match, none is eligible: nothing to ${verb.toLowerCase()}`);
    return false;
  }
  const left = matched - eligible;
  const which = filterText ? html`match <span class="mono">${filterText}</span>` : "are selected";
  const others = left > 0 ? `: ${count(left)} ${left === 1 ? "is" : "are"} in another status` : "";
  const body = html`<p>${count(matched)} ${which}, ${count(eligible)} ${eligible === 1 ? "is" : "are"} eligible${others}. ${more}</p>
    <p class="scope">Tasks that change meanwhile are skipped and counted.</p>`;
  const typed = action === "delete" && eligible > TYPED_FROM ? String(eligible) : undefined;
  const title = `${verb} ${plural(eligible, "task")}?`;
  const words = { action: `${verb} ${count(eligible)}`, keep: "Change nothing" };
  if (!(await confirm({ title, body, ...words, danger, typed }))) return false;
  const answer = /** @type {Changed} */ (await send("POST", path, { action, ...target }));
  if ("id" in answer) follow(answer);
  else {
    const { failed } = answer;
    const problems = failed.length > 0 ? `, ${count(failed.length)} were left out: ${failed[0].reason}` : "";
    toast(failed.length > 0 ? "warn" : "good", `${plural(answer.done, "task")} ${done}${problems}`);
  }
  reloadAll();
  return true;
}
