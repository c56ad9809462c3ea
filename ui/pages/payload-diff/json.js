// @ts-check
// The JSON of one product in both payloads, side by side. Both documents are read once, when they are asked
// for.

import { get, pathOf } from "../../core/api.js";
import { bytes, count, plural } from "../../core/format.js";
import { html, useMemo, useState } from "../../core/html.js";
import { setQuery } from "../../core/router.js";
import { Empty, Failure, Panel } from "../../parts/panel.js";
import { GONE } from "./gone.js";
import { keysThatDiffer, productsOf, sides } from "./lines.js";

/** @import { Refusal } from "../../core/api.js" */
/** @import { EventOf } from "../../core/html.js" */
/** @import { PayloadDiff, PayloadView } from "../../types/api" */
/** @import { Json as Product, Line } from "./lines.js" */
/**
 * The products of both documents by their ids.
 * @typedef {{ from: Map<string, Product>, to: Map<string, Product> }} Documents
 */
/** @typedef {Documents | { error: Refusal } | "reading" | null} Shown */

/** Maximum size of both together, compressed; more is not read into a page. */
const MAX_BYTES = 12_000_000;

/** @param {{ data: PayloadDiff, query: URLSearchParams, payloads: PayloadView[] }} properties */
export function Json({ data, query, payloads }) {
  const [read, become] = useState(/** @type {Shown} */ (null));
  const names = useMemo(() => changedProducts(data), [data]);
  const size = [data.from.id, data.to.id].reduce((sum, id) => sum + (payloads.find((each) => each.id === id)?.bytes ?? 0), 0);
  const start = async () => {
    become("reading");
    become(await readBoth(data).catch((error) => ({ error })));
  };
  if (size > MAX_BYTES) return html`<${Panel} title="JSON">
    <p class="panel-body dim">
      Both documents have ${bytes(size)} compressed, too much for a page. They can be downloaded above.</p></${Panel}>`;
  if (read === null || read === "reading") {
    return html`<${Panel} title="JSON" scope="of one product, side by side"><div class="panel-body">
      <button class="btn" type="button" disabled=${read === "reading"} onClick=${start}>
        ${read === "reading" ? "Reading" : `Read both documents${size ? `, ${bytes(size)}` : ""}`}</button></div></${Panel}>`;
  }
  if ("error" in read) {
    const words = GONE[read.error.status];
    return html`<${Panel} title="JSON">
      ${words
        ? html`<${Empty} icon="warn" title=${words}><p role="alert">${read.error.detail}</p></${Empty}>`
        : html`<${Failure} error=${read.error} onRetry=${start} what="A document" />`}</${Panel}>`;
  }
  return html`<${One} data=${data} read=${read} names=${names} chosen=${query.get("product")} />`;
}

/** @param {PayloadDiff} data */
async function readBoth(data) {
  const [from, to] = await Promise.all([data.from.id, data.to.id].map((id) => get(pathOf("/api/payloads/{id}/data", { id }))));
  return { from: productsOf(from), to: productsOf(to) };
}

/** Each product that the diff names, once. @param {PayloadDiff} data @returns {[string, string][]} id and name */
function changedProducts({ details }) {
  const all = [...details.priceChanges, ...details.stockChanges, ...details.optionChanges, ...details.added, ...details.removed];
  return [...new Map(all.map(({ id, name }) => [id, name]))];
}

/**
 * @param {{ data: PayloadDiff, read: Documents, names: [string, string][], chosen: string | null }} properties
 */
function One({ data, read, names, chosen }) {
  const at = Math.max(0, names.findIndex(([id]) => id === chosen));
  const [id, name] = names[at];
  const [before, after] = [read.from.get(id), read.to.get(id)];
  const compared = useMemo(() => sides(linesOf(before), linesOf(after)), [before, after]);
  const keys = keysThatDiffer(before, after);
  const go = (/** @type {number} */ step) => setQuery({ product: names[(at + step + names.length) % names.length][0] }, { replace: true });
  const words = before && after
    ? `${count(keys.differ)} of its ${plural(keys.all, "key")} ${keys.differ === 1 ? "differs" : "differ"}`
    : before ? "removed" : after ? "added" : "not found in these documents";
  return html`<${Panel} title="JSON" scope=${html`<bdi>${name}</bdi>, ${words}; ${count(at + 1)} of ${count(names.length)}`}
      more=${html`<div class="row actions">
        <button class="btn small" type="button" onClick=${() => go(-1)}>Previous</button>
        <button class="btn small" type="button" onClick=${() => go(1)}>Next</button></div>`}>
    <div class="panel-body">
      <label class="sr" for="product">Product</label>
      <select id="product" class="whole"
        onChange=${(/** @type {EventOf<HTMLSelectElement>} */ event) => setQuery({ product: event.target.value }, { replace: true })}>
        ${names.map(([each, word]) => html`<option key=${each} value=${each} selected=${each === id}>${word}</option>`)}
      </select>
      <div class="sides"><${Side} label=${`From, payload ${data.from.id}`} lines=${compared.before} />
        <${Side} label=${`To, payload ${data.to.id}`} lines=${compared.after} /></div>
    </div>
  </${Panel}>`;
}

/** @param {Product | undefined} product */
const linesOf = (product) => (product === undefined ? [] : JSON.stringify(product, null, 2).split("\n"));

/** @param {{ label: string, lines: Line[] }} properties */
const Side = ({ label, lines }) =>
  html`<div class="code" role="group" aria-label=${label} tabindex="0">
    ${lines.length === 0
      ? html`<span class="l" data-n="" data-m="">not in this payload</span>`
      : lines.map((line, at) => html`<${Text} key=${at} line=${line} />`)}</div>`;

/** @param {{ line: Line }} properties */
function Text({ line }) {
  const { mark, text, from, to } = line;
  if (mark === "…") return html`<span class="l" data-n="" data-m="…"></span>`;
  const written = html`<span class="l" data-n=${line.number} data-m=${mark}>${text.slice(0, from)}
    ${to > from ? html`<mark>${text.slice(from, to)}</mark>` : ""}${text.slice(Math.max(from, to))}</span>`;
  if (mark === " ") return written;
  return mark === "−" ? html`<del>${written}</del>` : html`<ins>${written}</ins>`;
}
