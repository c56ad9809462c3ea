// @ts-check
// Tasks: the filters in the address, and actions on the selected tasks or on all that match.

import { useCounts } from "../core/answers.js";
import { pathOf } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { count, plural } from "../core/format.js";
import { html } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { Icon } from "../parts/icon.js";
import { Empty, Loaded, PageHead } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { asText, filtersOf, QueryBox } from "../parts/query-box.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { SelectAll, useSelection } from "../parts/selection.js";
import { AGES, ageText, headsOf } from "../parts/sort.js";
import { taskIcon } from "../parts/status.js";
import { TaskActions } from "../parts/task-actions.js";
import { Bulk } from "./tasks/bulk.js";
import { QUALIFIERS, STATUSES, TEXT } from "./tasks/qualifiers.js";
import { Row, saysWhy } from "./tasks/row.js";

/** @import { Filters } from "../parts/query-box.js" */
/** @import { ShownStatus } from "../types/api" */
/** @import { Data } from "../types/requests" */

const DEFAULT_LIMIT = 50;
// maximum rows that can be drawn again with each change at 200 events a second
const MAX_LIMIT = 100;
const PARAMETERS = [...QUALIFIERS.map(({ parameter }) => parameter), "sort", "cursor"];

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const limit = Math.min(MAX_LIMIT, Math.max(1, Number(query.get("limit")) || DEFAULT_LIMIT));
  const filters = filtersOf(QUALIFIERS, query, ["cursor", "limit"], AGES);
  const asked = pick(filters.query, PARAMETERS);
  const path = pathOf("/api/tasks", { ...asked, limit });
  const answer = useResource(path, { topics: ["task", "counts"], gap: 2_000 });
  const steady = useSteadyRows(answer.data?.tasks ?? [], (task) => task.id, path);
  const selection = useSelection(steady.rows, path);
  usePage("Tasks", answer);
  const isFiltered = QUALIFIERS.some(({ parameter }) => filters.query.get(parameter));
  const head = headsOf(query, AGES[0]);
  const isOperator = may("operator");
  const withStatus = !filters.query.get("status");
  const hasWhy = steady.rows.some(saysWhy);
  return html`<${PageHead} title="Tasks" scope=${ageText(filters.query)}><${TaskActions} /></${PageHead}>
    <${QueryBox} filters=${filters} label="Filter tasks" text=${TEXT}
      placeholder="status:failed role:payload_fetch retries:>1 error:refused" />
    <${Statuses} query=${query} />
    <section class="panel" aria-label="Matching tasks">
      ${isOperator && html`<${Bulk} selected=${selection.ids} onDone=${selection.clear} filters=${filters}
        isEmpty=${steady.rows.length === 0} />`}
      <${Loaded} of=${answer} what="The list of tasks" rows=${10}>${(/** @type {Data<typeof answer>} */ data) =>
        steady.rows.length === 0
          ? html`<${Nothing} filters=${filters} isFiltered=${isFiltered} />`
          : html`<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />
              ${head.select}<table class="table fold"><caption class="sr">Tasks that match, ${ageText(filters.query)}</caption>
                <thead><tr>${isOperator && html`<${SelectAll} of=${selection} rows=${steady.rows.length} what="tasks" />`}
                  <th class=${hasWhy ? "w-name" : ""}>Store</th><th class="num">Task</th>
                  ${withStatus && html`<th>Status</th>`}<th>Role</th><th>Worker</th>
                  <th class="num">Retries</th><th class=${hasWhy ? "w-why" : ""}>Error or progress</th><th class="num">Ran</th>
                  ${head("When", AGES, "num")}</tr></thead>
                <tbody>${steady.rows.map((task) =>
                  html`<${Row} key=${task.id} task=${task} isSelected=${selection.ids.has(task.id)}
                    onSelect=${isOperator ? selection.toggle : null} withStatus=${withStatus} />`)}</tbody>
              </table></div>
              <${Pager} query=${query} next=${data.next_cursor}><span>${plural(steady.rows.length, "task")} on this page</span>
                <span class="not-phone"> · <kbd>j</kbd> <kbd>k</kbd> move, <kbd>x</kbd> select, <kbd>r</kbd> retry, <kbd>enter</kbd> open</span>
              </${Pager}>`}</${Loaded}>
    </section>`;
}

/** @param {{ query: URLSearchParams }} properties */
function Statuses({ query }) {
  const counts = useCounts().data;
  const others = Object.fromEntries([...query].filter(([name]) => name !== "status" && name !== "cursor"));
  const all = counts && STATUSES.reduce((sum, status) => sum + counts[status], 0);
  const tab = (/** @type {ShownStatus | ""} */ status, /** @type {string} */ word, /** @type {number | null} */ number) =>
    html`<li><a href=${link("/admin/tasks", { ...others, status })}
      aria-current=${(query.get("status") ?? "") === status ? "true" : undefined}>
      ${status === "failed" && number !== null && number > 0 && html`<${Icon} name=${taskIcon(status)} />`}
      ${word} <b title="of all tasks that are kept">${number === null ? "" : count(number)}</b></a></li>`;
  return html`<nav aria-label="Status">
    <ul class="tabs">${tab("", "All", all)}
      ${STATUSES.map((status) => tab(status, status[0].toUpperCase() + status.slice(1), counts ? counts[status] : null))}</ul></nav>`;
}

/** @param {{ filters: Filters, isFiltered: boolean }} properties */
const Nothing = ({ filters, isFiltered }) =>
  isFiltered
    ? html`<${Empty} icon="search" title="No task matches">
        <p class="mono">${asText(filters)}</p>
        <a class="btn" href=${link("/admin/tasks")}>Show all tasks</a></${Empty}>`
    : html`<${Empty} icon="pending" title="There is no task yet">
        <p>Schedules create them; <a class="link" href=${link("/admin/schedules")}>run one now</a>, or create a task.</p></${Empty}>`;
