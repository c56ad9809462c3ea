// @ts-check
// Notifications of ended jobs: where each goes, and how its delivery fares. One is sent again, an endpoint is tested.

import { pathOf, send } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { count, NONE, plural } from "../core/format.js";
import { html, memo, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { FormDialog } from "../parts/form.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { filtersOf, QueryBox, readId } from "../parts/query-box.js";
import { RowAction } from "../parts/row-action.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { AGES, ageText, headsOf } from "../parts/sort.js";
import { Status } from "../parts/status.js";
import { Ago, Until } from "../parts/time.js";
import { act } from "../parts/toast.js";

/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { Values } from "../parts/form.js" */
/** @import { ChangeMessage, Endpoint, NotificationView } from "../types/api" */
/** @import { Data } from "../types/requests" */

/** Class, icon and word. @type {Record<string, [string, string, string]>} */
const STATES = {
  pending: ["pending", "pending", "Pending"],
  delivered: ["done", "done", "Delivered"],
  failed: ["failed", "failed", "Failed"],
};
/** @type {Record<string, string>} */
const RECIPIENTS = { delivered: "has it", refused: "refused it for good", waiting: "refused it for now" };
/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "state", parameter: "state", values: Object.keys(STATES) },
  { word: "endpoint", parameter: "endpoint", help: "the id of an endpoint", read: readId },
];
const PARAMETERS = /** @type {const} */ (["state", "endpoint", "sort", "cursor"]);
const ENDPOINTS = link("/admin/media", { kind: "endpoints" });

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["cursor"], AGES);
  const path = pathOf("/api/notifications", { ...pick(filters.query, PARAMETERS), limit: 50 });
  const answer = useResource(path, { topics: ["task", "rollups"], gap: 3_000 });
  const endpoints = useResource(pathOf("/api/media/endpoints", { limit: 500 }), { topics: ["rollups"], gap: 10_000 });
  const steady = useSteadyRows(answer.data?.notifications ?? [], (each) => each.id, path);
  const [isTesting, test] = useState(false);
  usePage("Notifications", answer);
  const able = (endpoints.data?.records ?? []).filter(({ enabled }) => enabled);
  const isFiltered = QUALIFIERS.some(({ parameter }) => filters.query.get(parameter));
  const head = headsOf(query, AGES[0]);
  return html`<${PageHead} title="Notifications" scope=${`about ended jobs and the crawl, ${ageText(filters.query)}`}>
      ${may("operator") && able.length > 0 && html`<button class="btn primary" type="button" onClick=${() => test(true)}>Test an endpoint…</button>`}
      <a class="btn" href=${ENDPOINTS}>Endpoints</a></${PageHead}>
    <${QueryBox} filters=${filters} label="Filter notifications" text="state" placeholder="state:failed endpoint:1" />
    <${Panel} title="All notifications" scope=${isFiltered ? "that match" : ""}>
      <${Loaded} of=${answer} what="The list of notifications">${(/** @type {Data<typeof answer>} */ data) =>
        steady.rows.length === 0
          ? html`<${Empty} icon=${isFiltered ? "search" : "pending"} title=${isFiltered ? "No notification matches" : "There are no notifications yet"}>
              ${isFiltered
                ? html`<a class="btn" href=${link("/admin/notifications")}>Show all</a>`
                : html`<p>A <a class="link" href=${link("/admin/media", { kind: "rules" })}>rule</a> decides which ends of jobs and events of the crawl are sent to an <a class="link" href=${ENDPOINTS}>endpoint</a>.</p>`}</${Empty}>`
          : html`<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />${head.select}<table class="table fold">
                <thead><tr><th scope="col">Event</th><th scope="col">State</th><th scope="col">Endpoint</th>
                  <th scope="col" class="num">Attempts</th><th scope="col">Next</th><th scope="col" class="w-third">Last answer</th>
                  ${head("Made", AGES, "num")}<th scope="col" class="num"><span class="sr">Actions</span></th></tr></thead>
                <tbody>${steady.rows.map((each) => html`<${Row} key=${each.id} of=${each} />`)}</tbody>
              </table></div>
              <${Pager} query=${query} next=${data.next_cursor}>${plural(steady.rows.length, "notification")} on this page</${Pager}>`}</${Loaded}>
    </${Panel}>
    ${isTesting && html`<${Test} endpoints=${able} onClose=${() => test(false)} />`}`;
}

const Row = memo((/** @type {{ of: NotificationView }} */ { of: each }) => {
  const [kind, icon, word] = STATES[each.state] ?? ["", "dot", each.state];
  return html`<tr data-row>
    <th scope="row" class="key">${each.event}<br /><span class="scope">${subjectOf(each)}</span></th>
    <td class="end"><${Status} kind=${kind} icon=${icon} word=${word} /></td>
    <td class="fact"><a href=${link("/admin/notifications", { endpoint: each.endpoint_id })}><bdi>${each.endpoint}</bdi></a></td>
    <td class="num fact" data-l="attempts">${count(each.attempts)}</td>
    <td class="fact" data-l="next">${each.next_attempt_at ? html`<${Until} at=${each.next_attempt_at} />` : html`<span class="dim">${NONE}</span>`}</td>
    <td class="line">${answerOf(each)}</td>
    <td class="num fact" data-l="made"><${Ago} at=${each.created_at} after="ago" /></td>
    <td class="num line">${may("operator") && html`<${Resend} of=${each} />`}</td>
  </tr>`;
});

/** The job that ended, or the number of events of the crawl; a test has neither. @param {NotificationView} each */
function subjectOf({ event, subject, body }) {
  if (event === "test") return "of the endpoint";
  if (event === "products.changed") return changesOf(body);
  if (!event.startsWith("job.")) return eventsOf(body);
  const { job_type: type, account } = /** @type {{ job_type?: string, account?: string | null }} */ (body);
  const task = subject.split(":")[0];
  return html`<a class="link" href=${link(`/admin/tasks/${task}`)}>job ${task}</a> ${type}${account && html` <bdi>${account}</bdi>`}`;
}

/** @param {Record<string, unknown>} body */
function changesOf(body) {
  const { rule, count: number, changes } = /** @type {ChangeMessage} */ (/** @type {unknown} */ (body));
  return html`rule <bdi>${rule.name}</bdi>: ${plural(number, "change")}${changes[0] && html`, <bdi>${changes[0].text}</bdi>`}`;
}

/** @param {Record<string, unknown>} body */
function eventsOf(body) {
  const { count: number, events } = /** @type {{ count: number, events?: { store?: string | null, detail?: string | null }[] }} */ (body);
  const [first] = events ?? [];
  return html`${plural(number, "event")}${first && html`: <bdi>${first.store ?? first.detail}</bdi>`}`;
}

/** A mail has an answer for each recipient. @param {NotificationView} each */
function answerOf({ last_status: status, last_error: error, recipients }) {
  const answers = Object.entries(recipients);
  return html`${error
    ? html`<span class="wrap bad">${error}</span>`
    : typeof status === "number" && `status ${status}`}
    ${answers.length > 0 && html`<ul class="scope wrap" aria-label="Recipients">${answers.map(([address, { state, status: code, text }]) =>
      html`<li key=${address} class=${state === "refused" ? "bad" : ""}><bdi>${address}</bdi>: ${RECIPIENTS[state] ?? state}, ${code}${
        state !== "delivered" && text && html` <bdi>${text}</bdi>`}</li>`)}</ul>`}`;
}

/** @param {{ of: NotificationView }} properties */
function Resend({ of: { id: number, endpoint } }) {
  const resend = () =>
    act(() => send("POST", pathOf("/api/notifications/{id}/resend", { id: number }), {}), `Notification ${number} is sent to ${endpoint} again`);
  return html`<${RowAction} action="Resend" of=${`notification ${number}`} isMain=${true} onClick=${resend} />`;
}

/** @param {{ endpoints: Endpoint[], onClose: () => void }} properties */
const Test = ({ endpoints, onClose }) =>
  html`<${FormDialog} title="Test an endpoint" action="Send a test" onClose=${onClose}
    done=${(/** @type {NotificationView} */ made) => `A test of ${made.endpoint} is sent; the list shows how it ends`}
    fields=${[{ name: "endpoint", label: "Endpoint", type: "select", options: endpoints.map(({ id: key, name, kind }) => [String(key), `${name} (${kind})`]) }]}
    submit=${(/** @type {Values} */ { endpoint }) => send("POST", pathOf("/api/media/endpoints/{id}/test", { id: Number(endpoint) }), {})} />`;
