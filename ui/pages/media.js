// @ts-check
// Media: the records that media jobs work with, one kind at a time: what they watch and scrape, the credentials, and
// where notifications go.

import { pathOf, send } from "../core/api.js";
import { link } from "../core/base.js";
import { count } from "../core/format.js";
import { html, memo, useMemo, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { confirm } from "../parts/dialog.js";
import { FormDialog } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { bodyOf } from "../parts/record-form.js";
import { RowAction } from "../parts/row-action.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { headsOf, sorted } from "../parts/sort.js";
import { Status } from "../parts/status.js";
import { Ago } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { counted, KIND_NAMES, KINDS, referred } from "./media/kinds.js";

/** @import { Keys } from "../parts/sort.js" */
/** @import { Values } from "../parts/form.js" */
/** @import { Column, Kind, KindName, Names, RecordField } from "./media/kinds.js" */
/** The fields beside these are its kind's. @typedef {{ id: number, created_at: string, enabled?: boolean } & Record<string, any>} Row */

const LIMIT = 500;
/** The order of this page where its address says none: the server's. */
const INITIAL = "added";
/** @type {Names} */
const NO_NAMES = new Map();

/** @param {KindName} name */
const listOf = (name) => /** @type {const} */ (`/api/media/${name}`);
/** @param {KindName} name */
const oneOf = (name) => /** @type {const} */ (`/api/media/${name}/{id}`);

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const asked = query.get("kind") ?? KIND_NAMES[0];
  const name = KIND_NAMES.find((each) => each === asked) ?? KIND_NAMES[0];
  return html`<${Records} key=${name} name=${name} query=${query} wrong=${asked === name ? "" : asked} />`;
}

/** @param {{ name: KindName, query: URLSearchParams, wrong: string }} properties `wrong`: the kind that the address asks for */
function Records({ name, query, wrong }) {
  const kind = KINDS[name];
  const cursor = query.get("cursor");
  const answer = useResource(pathOf(listOf(name), { limit: LIMIT, cursor }), { topics: ["task"], gap: 5_000 });
  const names = useNames(referred(kind));
  const [edited, edit] = useState(/** @type {Row | "new" | null} */ (null));
  const [madeId, make] = useState(/** @type {number | null} */ (null));
  usePage(`${kind.title} · Media`, answer);
  const records = /** @type {Row[]} */ (answer.data?.records ?? []);
  // a record that was added here is shown at once, wherever the pointer is
  const made = records.some(({ id }) => id === madeId) ? madeId : "";
  const steady = useSteadyRows(sorted(records, query, keysOf(kind)), ({ id }) => id, `${query} ${made}`);
  const add = may("operator") &&
    html`<button class="btn primary" type="button" onClick=${() => edit("new")}><${Icon} name="plus" />Add ${kind.noun}…</button>`;
  return html`<${PageHead} title="Media" scope="what media jobs watch and scrape, their credentials, and where notifications go">${add}</${PageHead}>
    <${Tabs} current=${name} />
    ${wrong && html`<p class="filter-note" role="status"><${Icon} name="warn" />
      <span>kind=${wrong} is not understood. Possible: ${KIND_NAMES.join(", ")}.</span></p>`}
    <${Panel} title=${kind.title} scope=${kind.about}>
      <${Loaded} of=${answer} what=${`The list of ${kind.title.toLowerCase()}`}>${() =>
        records.length === 0 && !cursor
          ? html`<${Empty} icon="pending" title=${`There is no ${kind.noun} yet`}>${add}</${Empty}>`
          : html`<${Table} name=${name} query=${query} steady=${steady} names=${names ?? NO_NAMES} onEdit=${edit} />
              <${Pager} query=${query} next=${answer.data?.next_cursor} older="More">${counted(kind, records.length)}${
                cursor || answer.data?.next_cursor ? " on this page" : ""}</${Pager}>`}</${Loaded}>
    </${Panel}>
    ${edited && html`<${Form} name=${name} record=${edited === "new" ? null : edited} names=${names} onMade=${make} onClose=${() => edit(null)} />`}`;
}

/** @param {{ current: KindName }} properties */
const Tabs = ({ current }) =>
  html`<nav aria-label="Kinds of records"><ul class="tabs">${KIND_NAMES.map((name) =>
    html`<li key=${name}><a href=${link("/admin/media", { kind: name })} aria-current=${name === current ? "true" : undefined}>${KINDS[name].title}</a></li>`)}</ul></nav>`;

/** Names of the first records of a kind, by their ids; null until they are read. @param {KindName | null} name @returns {Names | null} */
function useNames(name) {
  const { data } = useResource(name && pathOf(listOf(name), { limit: LIMIT }), { topics: ["task"], gap: 5_000 });
  return useMemo(() => {
    const records = /** @type {Row[] | undefined} */ (data?.records);
    return name && records ? new Map(records.map((record) => [record.id, KINDS[name].name(record, NO_NAMES)])) : null;
  }, [data]);
}

/** @param {Column<any>} column */
const orderOf = ({ word }) => word.toLowerCase().replaceAll(" ", "_");

/** @param {Kind<any>} kind @returns {Keys<Row>} */
function keysOf(kind) {
  const columns = kind.columns.flatMap((column) => (column.key ? [[orderOf(column), column.key]] : []));
  return {
    ...Object.fromEntries(columns),
    name: (record) => kind.name(record, NO_NAMES),
    state: (record) => (record.enabled ? (kind.result?.(record) ? 0 : 1) : 2),
    added: ({ id }) => id,
  };
}

/** @param {Kind<any>} kind */
const isSwitched = ({ fields }) => fields.some(({ name }) => name === "enabled");

/** @typedef {{ name: KindName, names: Names, onEdit: (record: Row) => void }} Context */

/** @param {Context & { query: URLSearchParams, steady: ReturnType<typeof useSteadyRows<Row>> }} properties */
function Table({ name, query, steady, names, onEdit }) {
  const kind = KINDS[name];
  const head = headsOf(query, INITIAL);
  return html`<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />${head.select}<table class="table fold">
    <caption class="sr">${kind.title}</caption>
    <thead><tr>${head(kind.head, ["name", "name_desc"], "w-name")}${isSwitched(kind) && head("State", ["state", "state_desc"])}
      ${kind.columns.map((column) => {
        const place = column.isNumber ? "num" : "";
        const order = orderOf(column);
        return column.key ? head(column.word, [order, `${order}_desc`], place) : html`<th scope="col" class=${place}>${column.word}</th>`;
      })}
      ${head("Added", [INITIAL, `${INITIAL}_desc`], "num")}
      <th scope="col" class="num"><span class="sr">Actions</span></th></tr></thead>
    <tbody>${steady.rows.map((record) =>
      html`<${RecordRow} key=${record.id} name=${name} record=${record} names=${names} onEdit=${onEdit} />`)}</tbody>
  </table></div>`;
}

const RecordRow = memo((/** @type {Context & { record: Row }} */ { name, record, names, onEdit }) => {
  const kind = KINDS[name];
  const result = kind.result?.(record);
  return html`<tr data-row>
    <th scope="row" class="key wrap"><bdi>${kind.name(record, names)}</bdi>${kind.under && html`<br /><span class="scope"><bdi>${kind.under(record)}</bdi></span>`}</th>
    ${isSwitched(kind) && html`<td class="end">${stateOf(kind, record)}</td>`}
    ${kind.columns.map((column) =>
      html`<td class=${`${column.isLong ? "line" : "fact"} ${column.isNumber ? "num" : ""}`}
        data-l=${column.word.toLowerCase()}>${column.of(record, names)}</td>`)}
    <td class="num fact" data-l="added"><${Ago} at=${record.created_at} after="ago" /></td>
    <td class="num line">${may("operator") && html`<${Actions} name=${name} record=${record} names=${names} onEdit=${onEdit} />`}</td>
  </tr>
  ${result && html`<tr><td colspan=${kind.columns.length + (isSwitched(kind) ? 4 : 3)} class=${`line wrap ${kind.isNote ? "soft" : "bad"}`}>
    ${!kind.isNote && html`<${Icon} name="warn" /> `}${result}</td></tr>`}`;
});

/** @param {Kind<any>} kind @param {Row} record */
function stateOf(kind, record) {
  if (!record.enabled) return html`<${Status} kind="off" icon="off" word="Off" />`;
  return kind.result?.(record)
    ? html`<${Status} kind="failed" icon="failed" word="Fails" />`
    : html`<${Status} kind="done" icon="done" word="On" />`;
}

/** @param {Context & { record: Row }} properties */
function Actions({ name, record, names, onEdit }) {
  const kind = KINDS[name];
  const path = pathOf(oneOf(name), { id: record.id });
  const called = `${kind.noun} ${kind.name(record, names)}`;
  const turn = () =>
    act(() => send("PUT", path, /** @type {any} */ ({ enabled: !record.enabled })), `The ${called} is ${record.enabled ? "off" : "on"}`);
  const remove = async () => {
    const isSure = await confirm({
      title: `Remove 1 ${called}?`,
      body: kind.stays && html`<p>${kind.stays}</p>`,
      action: `Remove 1 ${kind.noun}`,
      danger: true,
    });
    if (isSure) await act(() => send("DELETE", path), `The ${called} is removed`);
  };
  return html`<span class="row">
    <${RowAction} action="Edit…" of=${called} isMain=${true} onClick=${() => onEdit(record)} />
    ${isSwitched(kind) && html`<${RowAction} action=${record.enabled ? "Disable" : "Enable"} of=${called} onClick=${turn} />`}
    <${RowAction} action="Remove…" of=${called} onClick=${remove} />
  </span>`;
}

/**
 * @param {object} properties
 * @param {KindName} properties.name
 * @param {Row | null} properties.record null: a new one
 * @param {Names | null} properties.names
 * @param {(id: number) => void} properties.onMade
 * @param {() => void} properties.onClose
 */
function Form({ name, record, names, onMade, onClose }) {
  const kind = KINDS[name];
  const nameOf = (/** @type {Row} */ each) => `${kind.noun} ${kind.name(each, names ?? NO_NAMES)}`;
  const fields = kind.fields.filter(({ isFixed }) => !record || !isFixed).map((field) => shown(field, record, names));
  const submit = async (/** @type {Values} */ values) => {
    const body = /** @type {any} */ (await bodyOf(fields, values, record));
    if (record) return send("PUT", pathOf(oneOf(name), { id: record.id }), body);
    const made = await send("POST", pathOf(listOf(name)), body);
    onMade(made.id);
    return made;
  };
  return html`<${FormDialog} title=${record ? `Change ${nameOf(record)}` : `Add: ${kind.noun}`}
    action=${record ? "Save" : `Add ${kind.noun}`} fields=${fields} submit=${submit} onClose=${onClose}
    done=${(/** @type {Row} */ saved) => `The ${nameOf(saved)} is ${record ? "saved" : "added"}`} />`;
}

/**
 * A field with its value, and with the records that it may refer to.
 * @param {RecordField} field
 * @param {Row | null} record
 * @param {Names | null} names
 * @returns {RecordField}
 */
function shown(field, record, names) {
  const { name, write, refers, required } = field;
  const kept = record?.[name] ?? null;
  const value = kept === null ? (record ? null : field.value) : write ? write(kept) : kept;
  if (!refers) return { ...field, value };
  // an id is typed where not all of them were read
  if (!names || names.size >= LIMIT) return { ...field, value, type: "number", help: `the id of one of the ${KINDS[refers].title.toLowerCase()}` };
  if (required && names.size === 0) return { ...field, type: "select", options: [], help: `none exists yet: add a ${KINDS[refers].noun} first` };
  const options = [...names].map(([id, text]) => /** @type {[string, string]} */ ([String(id), `${text} (${count(id)})`]));
  return { ...field, value, type: "select", read: Number, options: required ? options : [["", "none"], ...options] };
}
