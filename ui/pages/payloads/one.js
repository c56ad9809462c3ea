// @ts-check
// One payload: where it comes from, and its JSON, which is read only when it is asked for.

import { get, pathOf } from "../../core/api.js";
import { address, link } from "../../core/base.js";
import { bytes, count, exactTime, plural, share } from "../../core/format.js";
import { html, useState } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { CopyId } from "../../parts/copy-id.js";
import { usePage } from "../../parts/page.js";
import { Empty, Failure, Loaded, PageHead, Panel } from "../../parts/panel.js";
import { Ago } from "../../parts/time.js";
import { GONE } from "../payload-diff/gone.js";

/** @import { Refusal } from "../../core/api.js" */
/** @import { PayloadView } from "../../types/api" */

/** Maximum lines shown: a browser is slow with more. */
const MAX_LINES = 2_000;
/** Maximum length of a line: descriptions may be long. */
const MAX_LINE = 500;

/** @param {{ id: number }} properties */
export function One({ id }) {
  const answer = useResource(pathOf("/api/payloads/{id}", { id }));
  usePage(`Payload ${id}`, answer);
  const payload = answer.data;
  const crumb = html`<a href=${link("/admin/payloads")}>Payloads</a>
    ${payload && html` · <a href=${link("/admin/payloads", { dispensary_id: payload.dispensary_id })}>
      <bdi>${payload.dispensary_name ?? `store ${payload.dispensary_id}`}</bdi></a>`}`;
  return html`<${PageHead} title=${`Payload ${id}`} crumb=${crumb} mark=${payload && html`<${CopyId} id=${id} what="payload" />`}
    scope=${payload && html`fetched <${Ago} at=${payload.fetched_at} after="ago" />`}>
      ${payload && html`<a class="btn"
        href=${link("/admin/payloads/diff", { store: payload.dispensary_id, to: id })}>Diff with the one before</a>`}
    </${PageHead}>
    ${answer.error?.status === 404
      ? html`<section class="panel" aria-labelledby="h-none"><h2 class="sr" id="h-none">Payload</h2>
          <${Empty} icon="search" title=${`There is no payload ${id}`}>
            <a class="btn" href=${link("/admin/payloads")}>All payloads</a></${Empty}></section>`
      : html`<${Panel} title="Facts">
          <${Loaded} of=${answer} what="The payload">
            ${(/** @type {PayloadView} */ each) => html`<${Facts} of=${each} />`}</${Loaded}></${Panel}>
          ${payload && html`<${Document} of=${payload} />`}`}`;
}

/** @param {{ of: PayloadView }} properties */
const Facts = ({ of }) => html`<div class="panel-body"><dl class="facts">
  <dt>Store</dt><dd><a class="link-wrap" href=${link(`/admin/stores/${of.dispensary_id}`)}>
    <bdi>${of.dispensary_name ?? of.dispensary_id}</bdi></a>, ${of.platform}</dd>
  <dt>Task</dt><dd>${of.task_id === null
    ? "–"
    : html`<a class="link" href=${link(`/admin/tasks/${of.task_id}`)}>${of.task_id}</a>`}</dd>
  <dt>Fetched</dt><dd>${exactTime(of.fetched_at)}</dd>
  <dt>Products</dt><dd>${count(of.product_count)} of ${count(of.total_count)} that the menu names${of.total_count > 0 && `, ${share(of.coverage, 1)}`}</dd>
  <dt>File</dt><dd><span class="mono">${of.storage_path}</span>, ${bytes(of.bytes)} compressed</dd>
  <dt>SHA-256</dt><dd class="mono">${of.sha256}</dd>
</dl></div>`;

/** @typedef {{ text: string, lines: number } | { error: Refusal } | "reading" | null} Shown */

/** @param {{ of: PayloadView }} properties */
function Document({ of }) {
  const [shown, show] = useState(/** @type {Shown} */ (null));
  const data = address(pathOf("/api/payloads/{id}/data", { id: of.id }));
  const raw = address(pathOf("/api/payloads/{id}/data", { id: of.id, raw: true }));
  const read = async () => {
    show("reading");
    show(await firstLines(of.id).catch((error) => ({ error })));
  };
  const scope = shown && typeof shown === "object" && "text" in shown
    ? linesScope(shown.lines)
    : `${bytes(of.bytes)} compressed, several times that as text`;
  return html`<${Panel} title="JSON" scope=${scope}><div class="panel-body">
    <p class="row">
      ${(shown === null || shown === "reading") &&
        html`<button class="btn" type="button" disabled=${shown === "reading"} onClick=${read}>
          ${shown === "reading" ? "Reading" : `Show the first ${count(MAX_LINES)} lines`}</button>`}
      <a class="btn" href=${data} download=${`payload-${of.id}.json`}>Download the JSON</a>
      <a class="btn" href=${raw} download=${`payload-${of.id}.json.gz`}>Download the file as it is kept</a>
    </p>
    ${shown && typeof shown === "object" && "error" in shown && html`<${Unread} error=${shown.error} onRetry=${read} />`}
    ${shown && typeof shown === "object" && "text" in shown &&
      html`<div class="code payload-text" role="group" aria-label=${`JSON of payload ${of.id}`} tabindex="0">${shown.text}</div>`}
  </div></${Panel}>`;
}

/** @param {number} lines */
const linesScope = (lines) => (lines > MAX_LINES ? `the first ${count(MAX_LINES)} of ${count(lines)} lines` : `all ${plural(lines, "line")}`);

/** @param {number} id */
async function firstLines(id) {
  const lines = JSON.stringify(await get(pathOf("/api/payloads/{id}/data", { id })), null, 2).split("\n");
  const text = lines.slice(0, MAX_LINES).map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line));
  return { text: text.join("\n"), lines: lines.length };
}

/** @param {{ error: Refusal, onRetry: () => unknown }} properties */
function Unread({ error, onRetry }) {
  const words = GONE[error.status];
  if (!words) return html`<${Failure} error=${error} onRetry=${onRetry} what="The JSON" />`;
  return html`<${Empty} icon="warn" title=${words}><p role="alert">${error.detail}</p></${Empty}>`;
}
