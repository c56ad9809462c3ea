// @ts-check
// Messages of a rule: those that it sent, and those that it would have sent about the changes of the last days.

import { pathOf } from "../../core/api.js";
import { link } from "../../core/base.js";
import { count, plural, shortTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { Dialog } from "../../parts/dialog.js";
import { Loaded } from "../../parts/panel.js";
import { Ago } from "../../parts/time.js";

/** @import { ChangeMessage, ChangeRule, RehearsalPage } from "../../types/api" */
/** @import { Data } from "../../types/requests" */

const DAYS = 7;
/** Maximum number of messages, and of changes in each, that are shown. */
const SHOWN = 20;
const SHOWN_CHANGES = 3;
/** Maximum number of the endpoint's newest notifications among which those of the rule are looked for. */
const SEARCHED = 50;
const SHOWN_SENT = 5;

/** @param {{ rule: ChangeRule, onClose: () => void }} properties */
export function Messages({ rule, onClose }) {
  const rehearsal = useResource(pathOf("/api/media/change_rules/{id}/messages", { id: rule.id }));
  return html`<${Dialog} title=${`What rule ${rule.name} would have sent`} isWide=${true} onClose=${onClose}>
    <div class="stack">
      <${Loaded} of=${rehearsal} what="The rehearsal">${(/** @type {RehearsalPage} */ data) => html`<${Rehearsal} page=${data} />`}</${Loaded}>
      <${Sent} rule=${rule} />
      <div class="row"><button class="btn" type="button" autofocus onClick=${onClose}>Close</button></div>
    </div>
  </${Dialog}>`;
}

/** @param {{ page: RehearsalPage }} properties */
function Rehearsal({ page: { messages, is_cut: isCut } }) {
  const changes = messages.reduce((sum, message) => sum + message.count, 0);
  if (messages.length === 0) return html`<p>Nothing in the last ${DAYS} days.</p>`;
  const newest = messages.slice(-SHOWN).reverse();
  return html`<p>${isCut && "More than "}${plural(messages.length, "message")} with ${plural(changes, "change")} in the last ${DAYS} days${
      newest.length < messages.length && `; the last ${count(newest.length)} of ${isCut ? "these" : "them"}:`}</p>
    <ol class="messages" tabindex="0" aria-label="Messages">${newest.map((message, at) => html`<li key=${at}><${Message} of=${message} /></li>`)}</ol>`;
}

/** @param {{ of: ChangeMessage }} properties */
function Message({ of: { count: number, changes } }) {
  const [first] = changes;
  const shown = changes.slice(0, SHOWN_CHANGES);
  return html`<p><b>${plural(number, "change")}</b>${first && html` <span class="scope">${shortTime(first.crawled_at)}, <bdi>${first.store}</bdi></span>`}</p>
    <ul>${shown.map((change) => html`<li key=${change.cursor}><bdi>${change.text}</bdi></li>`)}
      ${number > shown.length && html`<li class="dim">and ${count(number - shown.length)} more</li>`}</ul>`;
}

/** The rule's notifications among the newest ones of its endpoint. @param {{ rule: ChangeRule }} properties */
function Sent({ rule }) {
  const answer = useResource(pathOf("/api/notifications", { endpoint: rule.endpoint_id, limit: SEARCHED }), { topics: ["changes"], gap: 10_000 });
  const to = link("/admin/notifications", { endpoint: rule.endpoint_id });
  return html`<h3>Last sent</h3><${Loaded} of=${answer} what="The list of notifications">${(/** @type {Data<typeof answer>} */ { notifications }) => {
    const own = notifications.filter(({ event, subject }) => event === "products.changed" && subject.startsWith(`rule ${rule.id}:`));
    return html`${own.length === 0
      ? html`<p class="dim">None among the last ${plural(notifications.length, "notification")} of its endpoint.</p>`
      : html`<ul>${own.slice(0, SHOWN_SENT).map(({ id, state, body, created_at: at, last_error: error }) =>
          html`<li key=${id}><${Ago} at=${at} after="ago" />: ${plural(Number(body.count), "change")}, ${state}${error && html` (<bdi>${error}</bdi>)`}</li>`)}</ul>`}
      <p><a class="link" href=${to}>All notifications of its endpoint</a></p>`;
  }}</${Loaded}>`;
}
