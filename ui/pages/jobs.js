// @ts-check
// Jobs: the current scrapes, and the media jobs with the progress of each.

import { useQueuePicture } from "../core/answers.js";
import { pathOf, send } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { count, plural, sentence } from "../core/format.js";
import { html, memo, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { rolesOf } from "../core/roles.js";
import { may } from "../core/session.js";
import { JOB_PRIORITY } from "../core/vocabulary.js";
import { confirm } from "../parts/dialog.js";
import { useProgress } from "../parts/follow.js";
import { FormDialog, given } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Progress } from "../parts/meter.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { filtersOf, QueryBox, readId } from "../parts/query-box.js";
import { RowAction } from "../parts/row-action.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { AGES, headsOf } from "../parts/sort.js";
import { TaskStatus } from "../parts/status.js";
import { Ago } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Scraping } from "./overview/scraping.js";

/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { CreatedJob, JobChange, JobRequest, JobView as Job } from "../types/api" */
/** @import { Data } from "../types/requests" */

const STATUSES = ["pending", "running", "completed", "failed", "cancelled"];

/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "status", parameter: "status", values: STATUSES },
  { word: "type", parameter: "job_type", get values() { return rolesOf("media"); } },
  { word: "platform", parameter: "platform" },
  { word: "account", parameter: "account" },
  { word: "parent", parameter: "parent", help: "the id of the job that created it", read: readId },
];
const SHOWN = 20;

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["cursor"], AGES);
  const asked = pick(filters.query, ["status", "job_type", "platform", "account", "parent", "sort", "cursor"]);
  const path = pathOf("/api/jobs", { ...asked, limit: 50 });
  const answer = useResource(path, { topics: ["task", "counts"], gap: 3_000 });
  const steady = useSteadyRows(answer.data?.jobs ?? [], (job) => job.id, path);
  useProgress(answer, path, steady.rows.some(({ status }) => status === "running"));
  const now = useResource(pathOf("/api/scheduler/status"), { topics: ["counts"], gap: 10_000 });
  const picture = useQueuePicture();
  const [isMaking, make] = useState(false);
  const [moved, move] = useState(/** @type {Job | null} */ (null));
  usePage("Jobs", answer);
  const isFiltered = QUALIFIERS.some(({ parameter }) => filters.query.get(parameter));
  const waiting = (now.data?.pending_counts ?? []).reduce((all, each) => all + each.count, 0);
  const head = headsOf(query, AGES[0]);
  return html`<${PageHead} title="Jobs" scope="what is being scraped, and media jobs">
      ${may("operator") && html`<button class="btn primary" type="button" onClick=${() => make(true)}><${Icon} name="plus" />New job</button>`}
    </${PageHead}>
    <${Scraping} of=${picture} tasks=${picture.data?.running} counts=${picture.data?.queue} shown=${SHOWN} />
    <${QueryBox} filters=${filters} label="Filter media jobs" text="account"
      placeholder="status:running type:scrape_account" />
    <${Panel} title="Media jobs"
      scope=${now.data ? `${count(waiting)} pending, ${now.data.worker_healthy ? "a media worker runs" : "no media worker runs"}` : ""}>
      <${Loaded} of=${answer} what="The list of jobs">${(/** @type {Data<typeof answer>} */ data) =>
        steady.rows.length === 0
          ? html`<${Empty} icon="pending" title=${isFiltered ? "No job matches" : "There are no media jobs"}>
              ${isFiltered
                ? html`<a class="btn" href=${link("/admin/jobs")}>Show all</a>`
                : html`<p>Media jobs scrape accounts, forums and channels; crawls of menus are above.</p>`}</${Empty}>`
          : html`<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />${head.select}<table class="table fold">
                <thead><tr><th>Job</th><th>Status</th><th>Account</th><th class="w-quarter">Progress</th>
                  <th class="num" title=${JOB_PRIORITY}>Priority, 1 first</th>${head("Made", AGES, "num")}<th class="num"><span class="sr">Actions</span></th></tr></thead>
                <tbody>${steady.rows.map((job) => html`<${Row} key=${job.id} job=${job} onMove=${move} />`)}</tbody></table></div>
              <${Pager} query=${query} next=${data.next_cursor}>${plural(steady.rows.length, "job")} on this page</${Pager}>`}</${Loaded}>
    </${Panel}>
    ${isMaking && html`<${NewJob} onClose=${() => make(false)} />`}
    ${moved &&
    html`<${FormDialog} title=${`Priority of job ${moved.id}`} action="Save" done="The priority is changed"
      onClose=${() => move(null)}
      fields=${[{
        name: "priority",
        label: "Priority",
        type: "number",
        required: true,
        value: moved.priority,
        help: JOB_PRIORITY,
      }]}
      submit=${(/** @type {JobChange} */ values) => send("PUT", pathOf("/api/jobs/{id}", { id: moved.id }), values)} />`}`;
}

const Row = memo((/** @type {{ job: Job, onMove: (job: Job) => void }} */ { job, onMove }) =>
  html`<tr data-row>
    <th scope="row" class="key"><a href=${link(`/admin/tasks/${job.id}`)}>${job.job_type}</a><br />
      <span class="scope">${job.id}<${Family} of=${job} /></span></th>
    <td class="end"><${TaskStatus} of=${job.status} /></td>
    <td class="fact"><bdi>${job.account ?? "–"}</bdi> <span class="dim">${job.platform ?? ""}</span></td>
    <td class="line">${job.error_message
      ? html`<span class="wrap bad">${job.error_message}</span>`
      : job.status === "running"
        ? html`<${Progress} percent=${job.progress_percent ?? null} text=${job.progress_message ?? null} />`
        : job.status === "completed" ? html`<span class="dim">${counts(job.result)}</span>` : ""}</td>
    <td class="num fact" data-l="priority">${count(job.priority)}</td>
    <td class="num fact" data-l="made"><${Ago} at=${job.created_at} after="ago" /></td>
    <td class="num line">${may("operator") && html`<${Actions} job=${job} onMove=${onMove} />`}</td>
  </tr>`);

/** `files 9, failed 1` @param {unknown} result */
const counts = (result) =>
  Object.entries(result ?? {})
    .filter(([, value]) => typeof value === "number" && value > 0)
    .map(([name, value]) => `${name} ${count(value)}`)
    .join(", ");

/** The job that made it, and those that it made. @param {{ of: Job }} properties */
const Family = ({ of: { id: number, parent_id: parent, has_children: hasChildren } }) =>
  html`${parent && html` · of <a href=${link(`/admin/tasks/${parent}`)}>${parent}</a>`}
    ${hasChildren && html` · <a href=${link("/admin/jobs", { parent: number })}>its jobs<span class="sr"> of job ${number}</span></a>`}`;

/** @param {{ job: Job, onMove: (job: Job) => void }} properties */
function Actions({ job, onMove }) {
  const { id: number } = job;
  const id = count(number);
  const cancel = async () => {
    const isSure = await confirm({ title: `Cancel job ${id}?`, action: "Cancel job", keep: "Keep job", danger: true });
    if (isSure) await act(() => send("POST", pathOf("/api/jobs/{id}/cancel", { id: number }), {}), `Job ${id} is cancelled`);
  };
  const remove = async () => {
    const isSure = await confirm({ title: `Delete job ${id}?`, action: "Delete job", danger: true });
    if (isSure) await act(() => send("DELETE", pathOf("/api/jobs/{id}", { id: number })), `Job ${id} is deleted`);
  };
  const retry = () => act(() => send("POST", pathOf("/api/jobs/{id}/retry", { id: number }), {}), `Job ${id} waits again`);
  const isOpen = job.status === "pending" || job.status === "running";
  return html`<span class="row">
    ${job.status === "pending" && html`<${RowAction} action="Priority…" of=${`job ${id}`} onClick=${() => onMove(job)} />`}
    ${isOpen && html`<${RowAction} action="Cancel…" of=${`job ${id}`} onClick=${cancel} />`}
    ${(job.status === "failed" || job.status === "cancelled") &&
      html`<${RowAction} action="Retry" of=${`job ${id}`} isMain=${true} hotkey="r" onClick=${retry} />`}
    ${!isOpen && html`<${RowAction} action="Delete…" of=${`job ${id}`} onClick=${remove} />`}
  </span>`;
}

/** @param {{ onClose: () => void }} properties */
const NewJob = ({ onClose }) =>
  html`<${FormDialog} title="New media job" action="Create job" onClose=${onClose}
    done=${(/** @type {CreatedJob} */ job) => `${sentence(job.job_type)} job ${job.id} waits${job.notice ? `; ${job.notice}` : ""}`}
    fields=${[
      { name: "job_type", label: "Type", type: "select", options: rolesOf("media") },
      { name: "platform", label: "Platform" },
      { name: "account", label: "Account" },
      { name: "priority", label: "Priority", type: "number", value: 2, help: JOB_PRIORITY },
      { name: "payload", label: "Payload", type: "textarea", placeholder: "{ }", help: "JSON; empty for none" },
    ]}
    submit=${async (/** @type {Omit<JobRequest, "payload"> & { payload: string | null }} */ values) =>
      send("POST", pathOf("/api/jobs"), given({ ...values, payload: values.payload && JSON.parse(values.payload) }))} />`;
