// @ts-check
// Capacity: the forecast of what the schedules need; by role, the waiting tasks, their run time, and the slots that finish
// them within some hours.

import { useCapacity } from "../core/answers.js";
import { link } from "../core/base.js";
import { count, decimal, duration, plural } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { SECONDS_PER_HOUR, workersFor, workersForAll } from "../parts/capacity.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { headsOf, sorted } from "../parts/sort.js";
import { Figure, Strip } from "../parts/strip.js";
import { Forecast } from "./capacity/forecast.js";

/** @import { Keys } from "../parts/sort.js" */
/** @import { Capacity } from "../types/api" */

const HOURS = [1, 4, 8];
/** The order of this page where its address says none: the server's. */
const INITIAL = "role";
/** @type {Keys<Capacity>} */
const KEYS = {
  role: ({ role }) => role,
  ready: ({ ready_tasks: ready }) => ready,
  pending: ({ pending_tasks: pending }) => pending,
  running: ({ running_tasks: running, claimed_tasks: claimed }) => running + claimed,
  completed: ({ completed_last_hour: completed }) => completed,
  failed: ({ failed_last_hour: failed }) => failed,
  duration: ({ avg_duration_sec: duration }) => duration,
  workers: ({ active_workers: workers }) => workers,
  drains: ({ pending_tasks: pending, estimated_hours_to_drain: hours }) => (pending > 0 ? hours : null),
  ...Object.fromEntries(HOURS.map((hours) => [`needed_${hours}`, (/** @type {Capacity} */ role) => workersFor(role, hours)])),
};

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const answer = useCapacity();
  usePage("Capacity", answer);
  const head = headsOf(query, INITIAL);
  const number = (/** @type {string} */ word, /** @type {string} */ by) => head(word, [`${by}_desc`, by], "num");
  return html`<${PageHead} title="Capacity" scope="what the schedules need, and when the backlog is done; run times are means of the last 24 hours" />
    <${Forecast} query=${query} />
    <${Loaded} of=${answer} what="The capacity">${(/** @type {Capacity[]} */ roles) => html`<${Totals} roles=${roles} />
      <${Panel} title="By role" scope="a slot runs one task at a time; the last columns: slots that finish the backlog in that time">
        ${roles.length === 0
          ? html`<${Empty} icon="pending" title="Nothing waits, and nothing ended within a day">
              <p>Capacity is computed from completed tasks.</p></${Empty}>`
          : html`${head.select}<table class="table fold">
              <thead><tr>${head("Role", ["role", "role_desc"])}${number("Ready", "ready")}${number("Pending", "pending")}
                ${number("Running", "running")}${number("Completed, 1 h", "completed")}${number("Failed, 1 h", "failed")}
                ${number("Run time", "duration")}${number("Workers", "workers")}${number("Done in", "drains")}
                ${HOURS.map((hours) => number(`Slots, ${hours} h`, `needed_${hours}`))}</tr></thead>
              <tbody>${sorted(roles, query, KEYS).map((role) => html`<${Row} key=${role.role} role=${role} />`)}</tbody>
            </table>`}
      </${Panel}>`}</${Loaded}>`;
}

/** @param {{ roles: Capacity[] }} properties */
function Totals({ roles }) {
  const pending = roles.reduce((sum, role) => sum + role.pending_tasks, 0);
  if (pending === 0) return html`<p class="panel panel-body">No task waits: there is no backlog.</p>`;
  return html`<${Strip} label="All roles together">
    <${Figure} label="Backlog" value=${count(pending)} scope=${`pending ${pending === 1 ? "task" : "tasks"} now, all roles`} href=${link("/admin/tasks", { status: "pending" })} />
    ${HOURS.map((hours) => html`<${Figure} label=${`To finish it in ${plural(hours, "hour")}`}
      value=${count(workersForAll(roles, hours))} unit=${workersForAll(roles, hours) === 1 ? "slot" : "slots"}
      scope="busy all the time" />`)}
  </${Strip}>`;
}

const Row = memo((/** @type {{ role: Capacity }} */ { role }) => {
  const drains = role.pending_tasks > 0 && typeof role.estimated_hours_to_drain === "number"
    ? duration(role.estimated_hours_to_drain * SECONDS_PER_HOUR)
    : "–";
  const tasks = (/** @type {string} */ status) => link("/admin/tasks", { role: role.role, status });
  return html`<tr data-row>
    <th scope="row" class="key"><a href=${tasks("")}>${role.role}</a></th>
    <td class="num fact" data-l="ready">${count(role.ready_tasks)}</td>
    <td class="num fact" data-l="pending"><a href=${tasks("pending")}>${count(role.pending_tasks)}</a></td>
    <td class="num fact" data-l="running"><a href=${tasks("running")}>${count(role.running_tasks + role.claimed_tasks)}</a></td>
    <td class="num fact" data-l="completed, 1 h">${count(role.completed_last_hour)}</td>
    <td class=${`num fact ${role.failed_last_hour > 0 ? "bad" : ""}`} data-l="failed, 1 h">
      <a href=${tasks("failed")}>${count(role.failed_last_hour)}</a></td>
    <td class="num fact" data-l="run time" title=${`mean of ${plural(role.measured_runs, "run")}`}>${duration(role.avg_duration_sec)}</td>
    <td class="num fact" data-l="workers" title="with a heartbeat of this role in the last 5 minutes">${count(role.active_workers)}
      ${typeof role.tasks_per_worker_hour === "number" &&
        html`<span class="sr">, ${decimal(role.tasks_per_worker_hour)} tasks an hour each</span>`}</td>
    <td class="num fact" data-l="done in">${drains}</td>
    ${HOURS.map((hours) => html`<td class="num fact" data-l=${`slots, ${hours} h`}>${role.pending_tasks > 0 ? html`<b>${count(workersFor(role, hours))}</b>` : "–"}</td>`)}
  </tr>`;
});
