// @ts-check
// Schedules: the next run of each, and the result or the failure of its last run.

import { useSchedules } from "../core/answers.js";
import { pathOf, send } from "../core/api.js";
import { link } from "../core/base.js";
import { count, duration, exactTime, plural } from "../core/format.js";
import { html, memo, useState } from "../core/html.js";
import { rolesOf } from "../core/roles.js";
import { may } from "../core/session.js";
import { PLATFORMS, TASK_PRIORITY } from "../core/vocabulary.js";
import { confirm } from "../parts/dialog.js";
import { FormDialog, given } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { RowAction } from "../parts/row-action.js";
import { useSteadyRows } from "../parts/rows.js";
import { headsOf, sorted } from "../parts/sort.js";
import { Status } from "../parts/status.js";
import { Ago, Until } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Runs, Upcoming } from "./schedules/runs.js";

/** @import { Run, SavedSchedule, Schedule, ScheduleRequest } from "../types/api" */
/** @import { Keys } from "../parts/sort.js" */
/** @import { Field } from "../parts/form.js" */

/** Every one, or one of them. @type {[string, string][]} */
const PLATFORM_OPTIONS = [["", "all"], ...PLATFORMS.map((name) => /** @type {[string, string]} */ ([name, name]))];

/** The order of this page where its address says none: the server's. */
const INITIAL = "name";
/** @type {Keys<Schedule>} */
const KEYS = {
  name: ({ name }) => name,
  state: ({ enabled, last_error: error }) => (enabled ? (error ? 0 : 1) : 2),
  interval: ({ cron, interval_hours: hours }) => (cron ? null : hours),
  priority: ({ priority }) => priority,
  last_run: ({ last_run_at: at }) => at && Date.parse(at),
  made: ({ last_task_count: tasks }) => tasks,
  next_run: ({ enabled, next_run_at: at }) => (enabled && at ? Date.parse(at) : null),
};

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const answer = useSchedules();
  const [edited, edit] = useState(/** @type {Schedule | "new" | null} */ (null));
  const [opened, open] = useState(/** @type {Schedule | null} */ (null));
  usePage("Schedules", answer);
  const schedules = answer.data?.schedules ?? [];
  const steady = useSteadyRows(sorted(schedules, query, KEYS), (schedule) => schedule.id, query.get("sort") ?? "");
  const head = headsOf(query, INITIAL);
  const isOperator = may("operator");
  return html`<${PageHead} title="Schedules" scope="what makes tasks by itself; times in UTC">
      ${isOperator && html`<button class="btn primary" type="button" onClick=${() => edit("new")}><${Icon} name="plus" />New schedule</button>`}
    </${PageHead}>
    <${Panel} title="All schedules" scope=${answer.data ? plural(schedules.length, "schedule") : ""}>
      <${Loaded} of=${answer} what="The list of schedules">${() =>
        schedules.length === 0
          ? html`<${Empty} icon="warn" title="There is no schedule"><p>Without one, nothing is crawled automatically.</p></${Empty}>`
          : html`${head.select}<table class="table fold" ...${steady.hold}>
              <thead><tr>${head("Schedule", ["name", "name_desc"])}${head("State", ["state", "state_desc"])}
                ${head("Every", ["interval", "interval_desc"])}<th>For</th>${head("Priority", ["priority_desc", "priority"], "num")}
                ${head("Last run", ["last_run_desc", "last_run"], "num")}${head("Made", ["made_desc", "made"], "num")}
                ${head("Next run", ["next_run", "next_run_desc"], "num")}<th class="num"><span class="sr">Actions</span></th></tr></thead>
              <tbody>${steady.rows.map((schedule) =>
                html`<${Row} key=${schedule.id} schedule=${schedule} isOperator=${isOperator} onEdit=${edit} onOpen=${open} />`)}</tbody>
            </table>`}</${Loaded}>
    </${Panel}>
    ${edited && html`<${Form} schedule=${edited === "new" ? null : edited} onClose=${() => edit(null)} />`}
    ${opened && html`<${Runs} schedule=${opened} onClose=${() => open(null)} />`}`;
}

/** @typedef {Record<"onEdit" | "onOpen", (schedule: Schedule) => void> & { schedule: Schedule, isOperator: boolean }} RowOf */

const Row = memo((/** @type {RowOf} */ { schedule, isOperator, onEdit, onOpen }) => {
  const tasks = link("/admin/tasks", { schedule_id: schedule.id });
  return html`<tr data-row>
    <th scope="row" class="key"><a href=${tasks}><bdi>${schedule.name}</bdi></a><br /><span class="scope">${schedule.role}</span></th>
    <td class="end">${stateOf(schedule)}</td>
    <td class="fact" data-l="every">
      ${schedule.cron ? html`<span class="mono">${schedule.cron}</span>${schedule.time_zone && html` <span class="dim">${schedule.time_zone}</span>`}` : duration((schedule.interval_hours ?? 0) * 3600)}</td>
    <td class="fact" data-l="for">
      ${[schedule.platform, schedule.state_code, schedule.group_name].filter(Boolean).join(", ") || html`<span class="dim">all</span>`}</td>
    <td class="num fact" data-l="priority">${count(schedule.priority)}</td>
    <td class="num fact" data-l="last run"><button class="as-link" type="button" onClick=${() => onOpen(schedule)}>
      ${schedule.last_run_at ? html`<${Ago} at=${schedule.last_run_at} after="ago" />` : "never"}<span class="sr">: the last runs of ${schedule.name}</span></button></td>
    <td class="num fact" data-l="made">
      <a href=${tasks}>${schedule.last_task_count === null ? "–" : plural(schedule.last_task_count ?? 0, "task")}</a></td>
    <td class="num fact" data-l="next run">
      ${schedule.enabled ? html`<${Until} at=${schedule.next_run_at} />` : html`<span class="dim">–</span>`}</td>
    <td class="num line">${isOperator && html`<${Actions} schedule=${schedule} onEdit=${onEdit} />`}</td>
  </tr>
  ${!schedule.last_error && schedule.last_note &&
    html`<tr><td colspan="9" class="line dim">${schedule.last_task_count === 0 ? "The last run created no task" : "The last run"}: ${schedule.last_note}</td></tr>`}
  ${schedule.last_error && html`<tr>
    <td colspan="9" class="line bad"><${Icon} name="warn" /> The last run failed: ${schedule.last_error}</td></tr>`}`;
});

/** @param {Schedule} schedule */
function stateOf(schedule) {
  if (!schedule.enabled) return html`<${Status} kind="off" icon="off" word="Off" />`;
  return schedule.last_error
    ? html`<${Status} kind="failed" icon="failed" word="Fails" /> `
    : html`<${Status} kind="done" icon="done" word="On" />`;
}

/** @param {{ schedule: Schedule, onEdit: (schedule: Schedule) => void }} properties */
function Actions({ schedule, onEdit }) {
  const path = pathOf("/api/schedules/{id}", { id: schedule.id });
  const ifMatch = { "if-match": tagOf(schedule) };
  const run = () =>
    act(
      () => send("POST", pathOf("/api/schedules/{id}/trigger", { id: schedule.id }), {}),
      (answer) => wordsOf(schedule.name, answer),
      { href: link("/admin/tasks", { schedule_id: schedule.id }) },
    );
  const turn = () =>
    act(() => send("PUT", path, { enabled: !schedule.enabled }, ifMatch), `${schedule.name} is ${schedule.enabled ? "off" : "on"}`);
  const remove = async () => {
    const isSure = await confirm({
      title: `Delete the schedule ${schedule.name}?`,
      body: html`<p>Its tasks are kept. The default schedules come back when drover starts.</p>`,
      action: "Delete",
      danger: true,
    });
    if (isSure) await act(() => send("DELETE", path), `${schedule.name} is deleted`);
  };
  return html`<span class="row">
    <${RowAction} action="Trigger" of=${schedule.name} isMain=${true} onClick=${run} />
    <${RowAction} action="Edit…" of=${schedule.name} onClick=${() => onEdit(schedule)} />
    <${RowAction} action=${schedule.enabled ? "Disable" : "Enable"} of=${schedule.name} onClick=${turn} />
    <${RowAction} action="Delete…" of=${schedule.name} onClick=${remove} />
  </span>`;
}

/** @param {string} name @param {Run} run */
function wordsOf(name, { fault, tasks, note, already_made: alreadyMade }) {
  if (fault) return `${name} did not run: ${fault}`;
  if (alreadyMade) return `${name} did not run again: it ran less than 10 seconds ago and created ${plural(tasks, "task")} then`;
  return `${name} ran and created ${plural(tasks, "task")}${note ? `: ${note}` : ""}`;
}

/** The server compares the version alone: a run since is no change. @param {Schedule} schedule */
const tagOf = (schedule) => `"${schedule.version}-0"`;

/** @param {{ schedule: Schedule | null, onClose: () => void }} properties */
function Form({ schedule, onClose }) {
  /** @type {Field[]} */
  const fields = [
    { name: "name", label: "Name", required: true, value: schedule?.name },
    { name: "role", label: "Role of its tasks", type: "select", options: rolesOf("crawl"), value: schedule?.role ?? "payload_fetch" },
    {
      name: "interval_hours",
      label: "Interval in hours",
      type: "number",
      min: 0,
      value: schedule?.interval_hours,
      help: "or a cron line below",
    },
    {
      name: "cron",
      label: "Cron",
      value: schedule?.cron,
      placeholder: "0 6 * * 1-5",
      help: "minute, hour, day of month, month, day of week (0 and 7: Sunday); seconds may come first",
    },
    {
      name: "time_zone",
      label: "Time zone",
      value: schedule?.time_zone,
      placeholder: "America/Phoenix",
      help: "of the cron line; empty for UTC",
    },
    { name: "platform", label: "Platform", type: "select", options: PLATFORM_OPTIONS, value: schedule?.platform ?? "" },
    { name: "state_code", label: "State", value: schedule?.state_code, placeholder: "AZ", help: "two letters; empty for all" },
    { name: "group_name", label: "Group", value: schedule?.group_name, help: "of stores; empty for all" },
    { name: "priority", label: "Priority", type: "number", min: -1000, max: 1000, value: schedule?.priority ?? 0, help: TASK_PRIORITY },
    { name: "enabled", label: "Enabled", type: "checkbox", value: schedule?.enabled ?? true },
  ];
  const submit = (/** @type {ScheduleRequest} */ values) => {
    if (!schedule) return send("POST", pathOf("/api/schedules"), given(values));
    const path = pathOf("/api/schedules/{id}", { id: schedule.id });
    return send("PUT", path, changed(values, schedule), { "if-match": tagOf(schedule) });
  };
  return html`<${FormDialog} title=${schedule ? `Edit ${schedule.name}` : "New schedule"}
    action=${schedule ? "Save" : "Create schedule"} fields=${fields} submit=${submit} done=${savedText}
    onClose=${onClose}>${schedule && html`<${Upcoming} times=${schedule.upcoming} />`}</${FormDialog}>`;
}

/** @param {SavedSchedule} saved */
function savedText({ name, upcoming = [], notice }) {
  const next = upcoming.length > 0 && `next runs: ${upcoming.map(exactTime).join(", ")}`;
  return [`${name} is saved`, next, notice].filter(Boolean).join("; ");
}

/**
 * The values that differ.
 * @param {ScheduleRequest} values
 * @param {Schedule} schedule
 * @returns {Partial<ScheduleRequest>}
 */
function changed(values, schedule) {
  const before = /** @type {Partial<ScheduleRequest>} */ (schedule);
  const names = /** @type {(keyof ScheduleRequest)[]} */ (Object.keys(values));
  return Object.fromEntries(names.filter((name) => values[name] !== (before[name] ?? null)).map((name) => [name, values[name]]));
}
