// @ts-check
// New stores: one by a form, many by a list with the columns of `drover stores import`.

import { pathOf, Refusal, send } from "../../core/api.js";
import { lineName, rowsOf } from "../../core/csv.js";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { PLATFORMS } from "../../core/vocabulary.js";
import { FormDialog, given } from "../../parts/form.js";
import { ImportDialog } from "../../parts/import.js";

/** @import { Line } from "../../core/csv.js" */
/** @import { ImportedStores, RenamedStore, StoreFields } from "../../types/api" */
/** @import { BodyOf } from "../../types/requests" */

/** @typedef {BodyOf<"/api/stores/import", "POST">["stores"]} Stores */

const COLUMNS = {
  known: ["name", "platform", "platform_dispensary_id", "slug", "menu_url", "api_host", "api_path", "city", "state", "timezone", "groups"],
  required: ["name"],
};

const KNOWN = "A store that exists, by its slug or by one that it had before, is only added to the groups of its line.";

/** @param {Stores} stores @param {boolean} [isCheck] */
const add = (stores, isCheck = false) => send("POST", pathOf("/api/stores/import"), { stores, dry_run: isCheck });

/** @param {{ onClose: () => void }} properties */
export const ImportStores = ({ onClose }) =>
  html`<${ImportDialog} title="Import stores" label="CSV with a header" onClose=${onClose} read=${read} send=${add} done=${doneText}
    placeholder=${"name,slug,state,groups\nLeaf & Bud,leaf-and-bud,AZ,rivals"}
    help=${`Columns: ${COLUMNS.known.join(", ")} (groups separated by semicolons). ${KNOWN}`} />`;

/** @param {Line[]} lines */
function read(lines) {
  const { entries, faults } = rowsOf(lines, COLUMNS);
  const unknown = entries.filter(({ value: { platform } }) => platform !== undefined && !PLATFORMS.includes(platform));
  const wrong = unknown.map(({ line, value }) => ({
    field: lineName(line),
    detail: `unknown platform '${value.platform}': the platforms are ${PLATFORMS.join(", ")}`,
  }));
  const known = (/** @type {Record<string, string>} */ { platform, ...value }) => (PLATFORMS.includes(platform) ? { platform, ...value } : value);
  return { entries: entries.map(({ line, value }) => ({ line, value: fieldsOf(known(value)) })), faults: [...faults, ...wrong] };
}

/** @param {Record<string, string | null>} values */
const fieldsOf = ({ groups, ...values }) =>
  /** @type {StoreFields} */ (
    /** @type {unknown} */ ({ name: "", ...values, groups: (groups ?? "").split(";").map((name) => name.trim()).filter(Boolean) })
  );

/** @param {ImportedStores[]} answers */
function doneText(answers) {
  const all = answers.flatMap(({ imported }) => imported);
  const known = answers.reduce((sum, answer) => sum + answer.known.length, 0);
  const renamed = answers.flatMap((answer) => answer.renamed ?? []);
  const full = answers.reduce((sum, answer) => sum + answer.full.length, 0);
  const looked = all.filter(({ entry_point_task_id: task }) => (task ?? null) !== null).length;
  return [
    `${plural(all.length, "store")} imported, ${count(known)} known already`,
    looked > 0 && `${plural(looked, "id")} looked up`,
    full > 0 && `${count(full)} in too many groups`,
    renamed.length > 0 && `${count(renamed.length)} of them by a slug that is no longer theirs: ${renamed.slice(0, 3).map(renamedText).join(", ")}`,
  ].filter(Boolean).join("; ");
}

/** @param {{ onClose: () => void }} properties */
export const AddStore = ({ onClose }) =>
  html`<${FormDialog} title="Add store" action="Add store" onClose=${onClose}
    done=${(/** @type {ImportedStores} */ answer) =>
      answer.imported.length > 0 ? `${answer.imported[0].name} is added` : existsText(answer)}
    fields=${[
      { name: "name", label: "Name", required: true },
      {
        name: "menu_url",
        label: "Menu",
        placeholder: "https://…",
        help: "its address, its slug or its id must be given",
      },
      { name: "slug", label: "Slug", help: "the last part of its menu's address" },
      { name: "platform_dispensary_id", label: "Id at the platform", help: "empty: it is looked up" },
      { name: "platform", label: "Platform", type: "select", options: PLATFORMS },
      { name: "city", label: "City" },
      { name: "state", label: "State", placeholder: "AZ" },
      { name: "groups", label: "Groups", help: "separated by semicolons" },
    ]}
    submit=${(/** @type {Record<string, string | null>} */ values) => add([fieldsOf(given(values))]).catch(nameless)} />`;

/** @param {ImportedStores} answer */
const existsText = ({ known, renamed }) =>
  renamed?.length
    ? `It exists already: ${renamedText(renamed[0])}. To add another store as ${renamed[0].former_slug}, give its id at the platform`
    : `It exists already: store ${known[0]}`;

/** @param {RenamedStore} store */
const renamedText = ({ id, former_slug: former, slug }) => `store ${id} was ${former} and is ${slug ?? "without a slug"} now`;

/** A refusal names the one store by its place in a list, which this form does not show. @param {unknown} error @returns {never} */
function nameless(error) {
  if (!(error instanceof Refusal) || error.fields.length === 0) throw error;
  throw new Refusal(error.status, error.title, error.fields.map(({ detail }) => detail).join("; "));
}
