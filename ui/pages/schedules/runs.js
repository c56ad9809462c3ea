// @ts-check
// The last runs of a schedule, in a dialog: when each was, the tasks that it made and their states, and how
// long they took; and when it runs next.

import { pathOf } from "../../core/api.js";
import { count, duration, exactTime, NONE, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { Dialog } from "../../parts/dialog.js";
import { Loaded } from "../../parts/panel.js";
import { Ago, Until } from "../../parts/time.js";

/** @import { PastRun, Schedule, ScheduleRuns } from "../../types/api" */

/** @param {{ schedule: Schedule, onClose: () => void }} properties */
export function Runs({ schedule, onClose }) {
  const answer = useResource(pathOf("/api/schedules/{id}/runs", { id: schedule.id }), { topics: ["schedule", "counts"], gap: 5_000 });
  return html`<${Dialog} title=${`Runs of ${schedule.name}`} onClose=${onClose} isWide=${true}>
    <${Loaded} of=${answer} what="The list of runs">${(/** @type {ScheduleRuns} */ { runs, upcoming }) =>
      html`<${Upcoming} times=${upcoming} />${runs.length === 0
        ? html`<p class="dim">It has not run within 30 days.</p>`
        : html`<table class="table fold">
            <thead><tr><th>Ran</th><th class="num">Tasks</th><th class="num">Completed</th><th class="num">Failed</th>
              <th class="num">Open</th><th class="num">Took</th></tr></thead>
            <tbody>${runs.map((run) => html`<${Row} key=${run.due_at} run=${run} />`)}</tbody>
          </table>`}`}</${Loaded}>
    <p class="scope">Tasks that follow from these, such as refreshes, are not counted.</p>
    <div class="row"><button class="btn" type="button" autofocus onClick=${onClose}>Close</button></div>
  </${Dialog}>`;
}

/** @param {{ times?: string[] }} properties */
export const Upcoming = ({ times = [] }) =>
  times.length === 0
    ? html`<p class="dim">It is disabled: it does not run automatically.</p>`
    : html`<p>Next: ${times.map((at, nth) => html`${nth > 0 && ", "}<${Until} key=${at} at=${at} />`)}</p>`;

/** @param {{ run: PastRun }} properties */
const Row = ({ run }) => html`<tr>
  <th scope="row" class="key nowrap" title=${`due at ${exactTime(run.due_at)}`}><${Ago} at=${run.made_at} after="ago" /></th>
  <td class="num fact" data-l="tasks">${count(run.tasks)}</td>
  <td class="num fact" data-l="completed">${count(run.completed)}</td>
  <td class="num fact" data-l="failed">${run.failed > 0 ? html`<b class="bad">${count(run.failed)}</b>` : "0"}</td>
  <td class="num fact" data-l="open">${count(run.open)}</td>
  <td class="num end">${tookText(run)}</td>
</tr>
${noteOf(run) && html`<tr><td colspan="6" class="line dim wrap">${noteOf(run)}</td></tr>`}`;

/** Until its last task ended; a dash where one is still open, or where retention deleted the first ones. @param {PastRun} run */
function tookText({ tasks, open, completed, failed, cancelled, made_at: made, last_end_at: end }) {
  const isWhole = open === 0 && completed + failed + cancelled === tasks;
  return isWhole && end ? duration((Date.parse(end) - Date.parse(made)) / 1000) : NONE;
}

/** @param {PastRun} run */
function noteOf({ note, tasks, open, completed, failed, cancelled }) {
  const gone = tasks - open - completed - failed - cancelled;
  const parts = [
    note && `No task: ${note}`,
    cancelled > 0 && `${plural(cancelled, "task")} cancelled`,
    gone > 0 && `${plural(gone, "task")} deleted since by retention`,
  ];
  return parts.filter(Boolean).join("; ");
}
