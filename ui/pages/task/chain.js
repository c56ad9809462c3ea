// @ts-check
// The origin of a task, and its follow-ups.

import { useSchedules } from "../../core/answers.js";
import { pathOf } from "../../core/api.js";
import { link } from "../../core/base.js";
import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { roleOf } from "../../core/roles.js";

/** @import { TaskDetail, TaskView } from "../../types/api" */

const SHOWN = 5;

/** @param {{ task: TaskDetail }} properties */
export function Chain({ task }) {
  const above = task.parent_task_id ? pathOf("/api/tasks/{id}", { id: task.parent_task_id }) : null;
  const parent = useResource(above, { topics: ["task"], gap: 10_000 }).data;
  const schedules = useSchedules(!!task.schedule_id).data?.schedules;
  const below = task.children.length > 0 ? pathOf("/api/tasks", { parent_task_id: task.id, limit: SHOWN }) : null;
  const children = useResource(below, { topics: ["task"], gap: 5_000 }).data?.tasks ?? [];
  const schedule = schedules?.find((each) => each.id === task.schedule_id);
  const hours = schedule?.interval_hours;
  const isOpen = !["completed", "failed", "cancelled"].includes(task.status);
  const next = isOpen && roleOf(task.role)?.follow_up;
  const others = task.children.length - children.length;
  return html`<div class="panel-body"><ol class="chain">
    ${task.schedule_id && html`<li>
      <a href=${link("/admin/tasks", { schedule_id: task.schedule_id })}>
        <span class="scope">schedule${hours ? `, every ${count(hours)} h` : ""}</span><br />
        ${schedule?.name ?? task.schedule_id}</a></li>`}
    ${task.parent_task_id && html`<li><${Box} task=${parent ?? { id: task.parent_task_id, role: "earlier task", status: "" }} /></li>`}
    ${!task.schedule_id && !task.parent_task_id && html`<li><span class="box">created by request</span></li>`}
    <li><${Box} task=${task} isCurrent=${true} /></li>
    ${children.map((child) => html`<li key=${child.id}><${Box} task=${child} /></li>`)}
    ${others > 0 && children.length > 0 &&
      html`<li><a href=${link("/admin/tasks", { parent_task_id: task.id })}>${count(others)} more</a></li>`}
    ${next && html`<li><span class="box">created when this completes<br />${next}</span></li>`}
  </ol></div>`;
}

/**
 * @param {{ task: Pick<TaskView, "id"> & { role: string, status: string }, isCurrent?: boolean }} properties
 */
const Box = ({ task, isCurrent = false }) =>
  html`<a href=${link(`/admin/tasks/${task.id}`)} aria-current=${isCurrent ? "true" : undefined}>
    <span class="scope">${task.id}${task.status && ` · ${task.status}`}</span><br />${task.role}</a>`;
