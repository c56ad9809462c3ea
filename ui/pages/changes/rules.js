// @ts-check
// The rules of changes: what each sends where, when it last did, and what it would have sent.

import { pathOf, send } from "../../core/api.js";
import { link } from "../../core/base.js";
import { count, plural } from "../../core/format.js";
import { html, memo, useState } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { may } from "../../core/session.js";
import { confirm } from "../../parts/dialog.js";
import { Icon } from "../../parts/icon.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { digestText } from "../../parts/record-form.js";
import { RowAction } from "../../parts/row-action.js";
import { useSteadyRows, Waiting } from "../../parts/rows.js";
import { Status } from "../../parts/status.js";
import { Ago } from "../../parts/time.js";
import { act } from "../../parts/toast.js";
import { Messages } from "./messages.js";
import { RuleForm } from "./rule-form.js";
import { FilterText, KindsText } from "./rule-text.js";

/** @import { ChangeRule, Endpoint } from "../../types/api" */
/** @import { Data } from "../../types/requests" */

/** Maximum number of rules and endpoints that are shown. */
const LIMIT = 500;

export function Rules() {
  const answer = useResource(pathOf("/api/media/change_rules", { limit: LIMIT }), { topics: ["changes", "task"], gap: 10_000 });
  const { data } = useResource(pathOf("/api/media/endpoints", { limit: LIMIT }), { topics: ["rollups"], gap: 10_000 });
  const endpoints = data?.records ?? [];
  const [edited, edit] = useState(/** @type {ChangeRule | "new" | null} */ (null));
  const [asked, ask] = useState(/** @type {ChangeRule | null} */ (null));
  const [madeId, make] = useState(0);
  const rules = answer.data?.records ?? [];
  const isMade = rules.some(({ id }) => id === madeId);
  const steady = useSteadyRows(rules, ({ id }) => id, isMade ? String(madeId) : "");
  const add = may("operator") && data && html`<button class="btn small" type="button" onClick=${() => edit("new")}>
    <${Icon} name="plus" />Add rule…</button>`;
  return html`<${Panel} title="Rules" id="rules" scope="changes that are sent to an endpoint" more=${rules.length > 0 && add && html`<span class="row actions">${add}</span>`}>
    <${Loaded} of=${answer} what="The list of rules">${(/** @type {Data<typeof answer>} */ { next_cursor: next }) =>
      rules.length === 0
        ? html`<${Empty} icon="pending" title="There is no rule of changes yet">
            <p>A rule sends the changes that it asks for to an <a class="link" href=${link("/admin/media", { kind: "endpoints" })}>endpoint</a>: by webhook, mail or ntfy.</p>${add}</${Empty}>`
        : html`<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} /><table class="table fold">
              <caption class="sr">Rules of changes</caption>
              <thead><tr><th scope="col" class="w-third">Rule</th><th scope="col">State</th><th scope="col">Endpoint</th>
                <th scope="col" class="num">Last sent</th><th scope="col" class="num"><span class="sr">Actions</span></th></tr></thead>
              <tbody>${steady.rows.map((rule) => html`<${Row} key=${rule.id} rule=${rule} onEdit=${edit} onAsk=${ask}
                endpoint=${endpoints.find(({ id }) => id === rule.endpoint_id)} />`)}</tbody>
            </table></div>
            ${next && html`<p class="panel-foot">The first ${plural(rules.length, "rule")}; drover changes rules list shows all.</p>`}`}</${Loaded}>
  </${Panel}>
  ${edited && html`<${RuleForm} rule=${edited === "new" ? null : edited} endpoints=${endpoints} onMade=${make} onClose=${() => edit(null)} />`}
  ${asked && html`<${Messages} rule=${asked} onClose=${() => ask(null)} />`}`;
}

/** @typedef {{ rule: ChangeRule, onEdit: (rule: ChangeRule) => void, onAsk: (rule: ChangeRule) => void }} Context */

const Row = memo((/** @type {Context & { endpoint: Endpoint | undefined }} */ { rule, endpoint, onEdit, onAsk }) => {
  const sent = link("/admin/notifications", { endpoint: rule.endpoint_id });
  return html`<tr data-row>
    <th scope="row" class="key wrap"><bdi>${rule.name}</bdi><br />
      <span class="scope"><${KindsText} of=${rule} /><${FilterText} of=${rule} /></span></th>
    <td class="end"><${State} rule=${rule} endpoint=${endpoint} /></td>
    <td class="fact" data-l="endpoint"><a href=${sent}><bdi>${endpoint?.name ?? `#${count(rule.endpoint_id)}`}</bdi></a>${" "}<br class="not-phone" />
      <span class="scope">${digestText(rule.digest)}</span></td>
    <td class="num fact" data-l="last sent"><${Ago} at=${rule.notified_at} after="ago" /></td>
    <td class="num line"><span class="row">
      <${RowAction} action="What would it have sent" of=${`rule ${rule.name}`} isMain=${true} onClick=${() => onAsk(rule)} />
      ${may("operator") && html`<${Changes} rule=${rule} onEdit=${onEdit} />`}</span></td>
  </tr>`;
});

/** @param {{ rule: ChangeRule, endpoint: Endpoint | undefined }} properties */
function State({ rule, endpoint }) {
  if (!rule.enabled) return html`<${Status} kind="off" icon="off" word="Off" />`;
  if (endpoint && !endpoint.enabled) {
    return html`<${Status} kind="failed" icon="failed" word="Endpoint off" title=${endpoint.disabled_reason ?? undefined} />`;
  }
  return html`<${Status} kind="done" icon="done" word="On" />`;
}

/** @param {{ rule: ChangeRule, onEdit: (rule: ChangeRule) => void }} properties */
function Changes({ rule, onEdit }) {
  const path = pathOf("/api/media/change_rules/{id}", { id: rule.id });
  const called = `rule ${rule.name}`;
  const turn = () => act(() => send("PUT", path, { enabled: !rule.enabled }), `The ${called} is ${rule.enabled ? "off" : "on"}`);
  const remove = async () => {
    const isSure = await confirm({
      title: `Remove the ${called}?`,
      body: html`<p>Notifications already made are kept.</p>`,
      action: "Remove 1 rule",
      danger: true,
    });
    if (isSure) await act(() => send("DELETE", path), `The ${called} is removed`);
  };
  return html`<${RowAction} action="Edit…" of=${called} onClick=${() => onEdit(rule)} />
    <${RowAction} action=${rule.enabled ? "Disable" : "Enable"} of=${called} onClick=${turn} />
    <${RowAction} action="Remove…" of=${called} onClick=${remove} />`;
}
