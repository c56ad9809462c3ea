// @ts-check
// Backlog: by role, the ready tasks, their wait, and when they will be done.

import { link } from "../../core/base.js";
import { count, duration, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { roles } from "../../core/session.js";
import { SECONDS_PER_HOUR, workersForAll } from "../../parts/capacity.js";
import { Loaded, Panel } from "../../parts/panel.js";
import { Secondary } from "../../parts/secondary.js";
import { Until } from "../../parts/time.js";

/** @import { Capacity, OverviewAnswer, Schedule } from "../../types/api" */
/** @import { Answer } from "../../core/resource.js" */

/** @param {{ of: Answer<OverviewAnswer>, schedules?: Schedule[] }} properties */
export function Behind({ of, schedules }) {
  const more = html`<a class="more" href=${link("/admin/capacity")}>Capacity</a>`;
  const isQuiet = of.data?.capacity.length === 0;
  return html`<${Secondary} title="Backlog of each role"><${Panel} title="Is anything behind" scope=${isQuiet ? "nothing waits, and nothing ended within a day" : "by role, now"} more=${more}>
    <${Loaded} of=${of} what="The capacity">${(/** @type {OverviewAnswer} */ { capacity, ready }) => {
      const roles = [...capacity].sort((a, b) => b.ready_tasks - a.ready_tasks || b.pending_tasks - a.pending_tasks);
      if (roles.length === 0) return null;
      const slots = workersForAll(roles, 1);
      return html`<table class="table fold">
          <thead><tr><th>Role</th><th class="num">Ready</th><th class="num">Oldest</th><th class="num">Done in</th>
            <th>Next run</th></tr></thead>
          <tbody>${roles.map((role) => {
            const oldest = ready.find((each) => each.role === role.role)?.oldest_seconds;
            return html`<tr key=${role.role} data-row>
              <th scope="row" class="key"><a href=${link("/admin/tasks", { role: role.role, status: "pending" })}>${role.role}</a></th>
              <td class="num fact" data-l="ready">${count(role.ready_tasks)}</td>
              <td class="num fact" data-l="oldest">${duration(oldest)}</td>
              <td class="num fact" data-l="done in">${drains(role)}</td>
              <td class="end">${schedules && nextRun(schedules, role.role)}</td>
            </tr>`;
          })}</tbody>
        </table>
        ${slots > 0 && html`<p class="panel-foot">${plural(slots, "slot")} ${slots === 1 ? "finishes" : "finish"} the backlog within 1 hour.</p>`}`;
    }}</${Loaded}>
  </${Panel}></${Secondary}>`;
}

/** @param {Capacity} role */
function drains(role) {
  const hours = role.estimated_hours_to_drain ?? null;
  return role.pending_tasks === 0 || hours === null ? "–" : duration(hours * SECONDS_PER_HOUR);
}

/** @param {Schedule[]} schedules @param {string} role */
function nextRun(schedules, role) {
  const times = schedules.filter((each) => each.role === role && each.enabled).flatMap((each) => each.next_run_at ?? []);
  const next = times.sort((a, b) => Date.parse(a) - Date.parse(b))[0];
  if (next) return html`<a href=${link("/admin/schedules")}><${Until} at=${next} /></a>`;
  // `roleOf` is no part of the first load
  return html`<span class="dim">${roles().find((each) => each.role === role)?.origin ?? "no schedule"}</span>`;
}
