// @ts-check
// Makes tasks by hand: one, a day's crawl, a discovery; and recovers stale ones. For Tasks and the job queue.

import { pathOf, send } from "../core/api.js";
import { link } from "../core/base.js";
import { count, plural } from "../core/format.js";
import { html, useState } from "../core/html.js";
import { rolesOf } from "../core/roles.js";
import { may } from "../core/session.js";
import { PLATFORMS, TASK_PRIORITY } from "../core/vocabulary.js";
import { Actions } from "./actions.js";
import { confirm } from "./dialog.js";
import { FormDialog, given } from "./form.js";
import { act } from "./toast.js";

/** @import { Children } from "../core/html.js" */
/** @import { DiscoveryRequest, Resync, ResyncRequest, TaskRequest, TaskView } from "../types/api" */

/** @param {{ children?: Children }} properties a button of the page, beside them */
export function TaskActions({ children }) {
  const [form, open] = useState(/** @type {"task" | "day" | "discovery" | null} */ (null));
  if (!may("operator")) return null;
  const close = () => open(null);
  const recover = async () => {
    const body = html`<p>Tasks whose worker has been silent for 10 minutes go back to the queue. drover also does this automatically.</p>`;
    if (!(await confirm({ title: "Recover stale tasks?", body, action: "Recover stale tasks" }))) return;
    await act(
      () => send("POST", pathOf("/api/tasks/recover-stale"), {}),
      ({ requeued, failed }) => `${plural(requeued, "task")} put back, ${count(failed)} failed for good`,
    );
  };
  const others = [
    { word: "Crawl a day…", onClick: () => open("day") },
    { word: "Discover stores…", onClick: () => open("discovery") },
    { word: "Recover stale…", onClick: recover },
    { word: "Schedules", href: link("/admin/schedules") },
  ];
  return html`<${Actions} main=${{ word: "New task", icon: "plus", onClick: () => open("task") }} others=${others}>${children}</${Actions}>
    ${form === "task" && html`<${NewTask} onClose=${close} />`}${form === "day" && html`<${Day} onClose=${close} />`}
    ${form === "discovery" && html`<${Discovery} onClose=${close} />`}`;
}

/** @param {{ onClose: () => void }} properties */
const NewTask = ({ onClose }) =>
  html`<${FormDialog} title="New task" action="Create task" onClose=${onClose}
    done=${(/** @type {TaskView} */ task) => `Task ${task.id} waits`}
    fields=${[
      { name: "role", label: "Role", type: "select", options: rolesOf("crawl"), value: "payload_fetch" },
      { name: "dispensary_id", label: "Store", type: "store", help: "roles of a store need one" },
      {
        name: "priority",
        label: "Priority",
        type: "number",
        min: -1000,
        max: 1000,
        value: 10,
        help: `${TASK_PRIORITY}; tasks of schedules have 0`,
      },
      { name: "scheduled_for", label: "Not before", type: "datetime-local", help: "UTC; empty: now" },
    ]}
    submit=${(/** @type {TaskRequest} */ values) => send("POST", pathOf("/api/tasks"), given(values))} />`;

/** @param {{ onClose: () => void }} properties */
const Day = ({ onClose }) =>
  html`<${FormDialog} title="Crawl every store in a day" action="Create tasks" onClose=${onClose}
    done=${(/** @type {Resync} */ { count: made, skipped }) => `${plural(made, "task")} made, ${plural(skipped, "store")} had one already`}
    fields=${[
      {
        name: "batches_per_day",
        label: "Batches",
        type: "number",
        min: 1,
        max: 24,
        value: 6,
        help: "evenly over the day, from midnight UTC",
      },
      { name: "date", label: "Day", placeholder: "2026-11-24", help: "empty: today" },
      { name: "state_code", label: "State", placeholder: "AZ", help: "empty: all" },
    ]}
    submit=${(/** @type {ResyncRequest} */ values) => send("POST", pathOf("/api/tasks/generate/resync"), given(values))} />`;

/** @param {{ onClose: () => void }} properties */
const Discovery = ({ onClose }) =>
  html`<${FormDialog} title="Discover stores" action="Create discovery task" onClose=${onClose}
    done=${(/** @type {TaskView} */ task) => `Task ${task.id} waits`}
    fields=${[
      { name: "platform", label: "Platform", type: "select", options: PLATFORMS },
      { name: "state_code", label: "State", placeholder: "AZ", help: "empty: all" },
    ]}
    submit=${(/** @type {DiscoveryRequest} */ values) => send("POST", pathOf("/api/tasks/generate/discovery"), given(values))} />`;
