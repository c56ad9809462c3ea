// @ts-check
// Currently scraping: the running tasks, longest-running first.

import { link } from "../../core/base.js";
import { count, storeText } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { Icon } from "../../parts/icon.js";
import { Progress } from "../../parts/meter.js";
import { Loaded, Panel } from "../../parts/panel.js";
import { useSteadyRows, Waiting } from "../../parts/rows.js";
import { Running } from "../../parts/time.js";
import { runningOf } from "./verdict.js";

/** @import { Answer } from "../../core/resource.js" */
/** @import { OverviewAnswer, QueuePicture, TaskCounts, TaskView } from "../../types/api" */

/**
 * @param {object} properties
 * @param {Answer<OverviewAnswer> | Answer<QueuePicture>} properties.of the answer that has both of the others
 * @param {TaskView[]} [properties.tasks]
 * @param {TaskCounts} [properties.counts]
 * @param {number} [properties.shown]
 */
export function Scraping({ of, tasks = [], counts, shown = 8 }) {
  const steady = useSteadyRows(tasks.slice(0, shown), (task) => task.id);
  const number = counts ? runningOf(counts) : 0;
  const isIdle = !!of.data && steady.rows.length === 0;
  const more = html`<a class="more" href=${link("/admin/tasks", { status: isIdle ? "pending" : "running" })}>
    ${isIdle ? "What waits" : `All ${count(number)}`}</a>`;
  return html`<${Panel} title="Currently scraping" more=${of.data && more}
    scope=${of.data && (isIdle ? "no task runs at the moment" : `${count(steady.rows.length)} of ${count(number)}, longest first`)}>
    <${Loaded} of=${of} what="The list of running tasks">${() =>
      steady.rows.length > 0 &&
        html`<table class="table fold" ...${steady.hold}>
            <thead><tr><th class="w-third">Store</th><th>Role</th><th>Worker</th><th class="w-quarter">Progress</th>
              <th class="num">For</th></tr></thead>
            <tbody>${steady.rows.map((task) => html`<${Row} key=${task.id} task=${task} />`)}</tbody>
          </table><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />`}</${Loaded}>
  </${Panel}>`;
}

const Row = memo((/** @type {{ task: TaskView }} */ { task }) => {
  const store = storeText(task);
  return html`<tr data-row>
    <th scope="row" class="key cut"><a href=${link(`/admin/tasks/${task.id}`)} title=${store}><bdi>${store}</bdi></a></th>
    <td class="fact">${task.role}
      ${task.retry_count > 0 &&
        html` <span class="status retrying" title=${`attempt ${task.retry_count + 1}`}><${Icon} name="retrying" />
          ${task.retry_count + 1}<span class="sr">. attempt</span></span>`}</td>
    <td class="fact">${task.worker_name ?? task.worker_id}</td>
    <td class="line"><${Progress} percent=${task.progress_percent} text=${task.progress_message} /></td>
    <td class="num end"><${Running} since=${task.started_at} /></td>
  </tr>`;
});
