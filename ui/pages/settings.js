// @ts-check
// Settings: the effective configuration with the origin of each value, and the tokens that open the API.

import { link } from "../core/base.js";
import { pathOf, send } from "../core/api.js";
import { count, plural } from "../core/format.js";
import { html, memo, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { setQuery } from "../core/router.js";
import { may } from "../core/session.js";
import { confirm, Dialog } from "../parts/dialog.js";
import { FormDialog } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { Ago } from "../parts/time.js";
import { act } from "../parts/toast.js";

/** @import { EventOf } from "../core/html.js" */
/** @import { Answer } from "../core/resource.js" */
/** @import { ApiToken, NewToken, Setting, Settings, TokenList } from "../types/api" */

const ROLES = ["consumer", "viewer", "operator", "admin"];

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const isAdmin = may("admin");
  const settings = useResource(isAdmin ? pathOf("/api/config") : null);
  const tokens = useResource(isAdmin ? pathOf("/api/tokens") : null, { topics: ["rollups"] });
  usePage("Settings", settings, tokens);
  if (!isAdmin) {
    return html`<${PageHead} title="Settings" /><div class="panel"><${Empty} icon="warn" title="Settings are for an admin">
      <p>Your token has another role. <code>drover config show --origin</code> on the server's machine shows them too.</p>
      </${Empty}></div>`;
  }
  return html`<${PageHead} title="Settings" scope="of this server, secrets masked; changed by configuration files and variables" />
    <${Tokens} of=${tokens} />
    <${Configuration} of=${settings} query=${query} />`;
}

/** @param {{ of: Answer<TokenList> }} properties */
function Tokens({ of }) {
  const [isMaking, make] = useState(false);
  const [made, show] = useState("");
  const revoke = async (/** @type {ApiToken} */ token) => {
    const isSure = await confirm({
      title: `Revoke the token ${token.name}?`,
      body: html`<p>Requests with it are refused within a second.</p>`,
      action: "Revoke",
      danger: true,
    });
    if (isSure) await act(() => send("DELETE", pathOf("/api/tokens/{id}", { id: token.id })), `${token.name} is revoked`);
  };
  const more = html`<div class="row actions">
    <button class="btn small" type="button" onClick=${() => make(true)}><${Icon} name="plus" />New token</button></div>`;
  return html`<${Panel} title="Tokens" scope="who may call the API" more=${more}>
    <${Loaded} of=${of} what="The list of tokens" rows=${2}>${(/** @type {TokenList} */ { tokens }) =>
      tokens.length === 0
        ? html`<${Empty} icon="warn" title="There is no token">
            <p>This machine may do everything, and other machines have no access. Once the first token exists, every caller needs one, including this page.
            </p></${Empty}>`
        : html`<table class="table fold">
            <thead><tr><th>Name</th><th>Role</th><th class="num">Made</th><th class="num">Last used</th>
              <th class="num"><span class="sr">Action</span></th></tr></thead>
            <tbody>${tokens.map((token) =>
              html`<${TokenRow} key=${token.id} token=${token} onRevoke=${() => revoke(token)} />`)}</tbody></table>`}</${Loaded}>
    ${isMaking &&
    html`<${FormDialog} title="New token" action="Create token" done="The token was created" onClose=${() => make(false)}
      fields=${[
        { name: "name", label: "Name", required: true, help: "who or what uses it" },
        { name: "role", label: "Access role", type: "select", options: ROLES, value: "viewer" },
      ]}
      submit=${async (/** @type {NewToken} */ values) => show((await send("POST", pathOf("/api/tokens"), values)).token ?? "")} />`}
    ${made && html`<${Dialog} title="The token" onClose=${() => show("")}><p>It is shown once: keep it now.</p>
      <pre class="code wrap" tabindex="0" aria-label="Token">${made}</pre>
      <div class="row"><button class="btn primary" type="button" autofocus
        onClick=${() => show("")}>I have kept it</button></div></${Dialog}>`}
  </${Panel}>`;
}

/** @param {{ token: ApiToken, onRevoke: () => void }} properties */
const TokenRow = ({ token, onRevoke }) =>
  html`<tr data-row>
    <th scope="row" class="key"><a href=${link("/admin/audit", { who: token.name })}><bdi>${token.name}</bdi></a></th>
    <td class="fact">${token.role}</td>
    <td class="num fact" data-l="made"><${Ago} at=${token.created_at} after="ago" /></td>
    <td class="num end">${token.last_used_at
      ? html`<${Ago} at=${token.last_used_at} after="ago" />`
      : html`<span class="dim">never</span>`}</td>
    <td class="num line"><button class="btn small quiet" type="button" aria-label=${`Revoke… the token ${token.name}`}
      onClick=${onRevoke}>Revoke…</button></td>
  </tr>`;

/** @param {{ of: Answer<Settings>, query: URLSearchParams }} properties */
function Configuration({ of, query }) {
  const wanted = (query.get("q") ?? "").toLowerCase();
  const isChangedOnly = query.get("changed") === "yes";
  const changed = (of.data?.settings ?? []).filter(isChanged).length;
  const filter = html`<div class="row actions">
    <label><input type="checkbox" checked=${isChangedOnly} onChange=${(/** @type {EventOf<HTMLInputElement>} */ event) =>
      setQuery({ changed: event.target.checked ? "yes" : null }, { replace: true })} /> Changed only (${count(changed)})</label>
    <label class="sr" for="setting">Filter settings</label>
    <input id="setting" data-key="/" type="search" placeholder="Filter keys, values, origins" value=${wanted}
      onInput=${(/** @type {EventOf<HTMLInputElement>} */ event) => setQuery({ q: event.target.value }, { replace: true })} /></div>`;
  return html`<${Panel} title="Configuration" scope="effective values; changed ones with where each comes from" more=${filter}>
    <${Loaded} of=${of} what="The configuration">${(/** @type {Settings} */ { settings }) => {
      const found = settings.filter((each) => (!isChangedOnly || isChanged(each)) &&
        `${each.key} ${text(each.value)} ${each.origin}`.toLowerCase().includes(wanted));
      if (found.length === 0) return html`<${Empty} icon="search" title="No setting matches">
        <a class="btn" href=${link("/admin/settings")}>Show all ${count(settings.length)}</a></${Empty}>`;
      return html`${groupsOf(found).map(([name, group]) =>
        html`<${Group} key=${name} name=${name} settings=${group} isOpen=${isChangedOnly || wanted !== "" || group.some(isChanged)} />`)}
        <p class="panel-foot">${count(found.length)} of ${count(settings.length)} settings</p>`;
    }}</${Loaded}>
  </${Panel}>`;
}

/** The file that has every key; another origin has changed the value. */
const DEFAULTS = /(^|\/)default\.toml( \(built in\))?$/;

/** @param {Setting} setting */
const isChanged = ({ origin }) => !DEFAULTS.test(origin);

/** By the first parts of their keys, in their order. @param {Setting[]} settings @returns {[string, Setting[]][]} */
function groupsOf(settings) {
  /** @type {Map<string, Setting[]>} */
  const groups = new Map();
  for (const setting of settings) {
    const name = setting.key.split(".")[0];
    groups.set(name, [...(groups.get(name) ?? []), setting]);
  }
  return [...groups];
}

/** @param {{ name: string, settings: Setting[], isOpen: boolean }} properties */
function Group({ name, settings, isOpen }) {
  const changed = settings.filter(isChanged).length;
  return html`<details class="group" open=${isOpen}>
    <summary><b>${name}</b> <span class="scope">${plural(settings.length, "setting")}${changed > 0 && `, ${count(changed)} changed`}</span></summary>
    <table class="table fold"><thead class="sr"><tr><th class="w-third">Key</th><th>Value</th><th>Origin</th></tr></thead>
      <tbody>${settings.map((each) => html`<${Row} key=${each.key} setting=${each} />`)}</tbody></table>
  </details>`;
}

const Row = memo((/** @type {{ setting: Setting }} */ { setting }) => {
  const value = text(setting.value) || html`<span class="dim">empty</span>`;
  return html`<tr><th scope="row" class="key mono w-third">${setting.key}</th>
    <td class="line mono wrap">${isChanged(setting) ? html`<b>${value}</b>` : value}</td>
    <td class="num end">${isChanged(setting)
      ? html`<span class="tag">changed</span> ${setting.origin}`
      : html`<span class="dim">default</span>`}</td></tr>`;
});

/** @param {unknown} value */
const text = (value) => (typeof value === "string" ? value : Array.isArray(value) ? value.join(", ") : JSON.stringify(value));
