// @ts-check
// The form of a rule of changes. Checks of values are the server's.

import { pathOf, send } from "../../core/api.js";
import { html } from "../../core/html.js";
import { FormDialog } from "../../parts/form.js";
import { bodyOf, DIGESTS, filledIn } from "../../parts/record-form.js";
import { MILLICENTS } from "../../parts/products.js";
import { KIND_NAMES, kindText } from "./words.js";

/** @import { Values } from "../../parts/form.js" */
/** @import { RecordField } from "../../parts/record-form.js" */
/** @import { ChangeRule, Endpoint } from "../../types/api" */

/** Dollars in the form, cents in the API. */
const CENTS = { read: (/** @type {number} */ dollars) => Math.round(dollars * 100), write: (/** @type {number} */ cents) => String(cents / 100) };
/** The same in thousandths of a cent. */
const UNIT_CENTS = {
  read: (/** @type {number} */ dollars) => CENTS.read(dollars) * MILLICENTS,
  write: (/** @type {number} */ millicents) => CENTS.write(millicents / MILLICENTS),
};
/** Hours in the form, minutes in the API. */
const MINUTES = { read: (/** @type {number} */ hours) => Math.round(hours * 60), write: (/** @type {number} */ minutes) => (minutes > 0 ? String(minutes / 60) : "") };

/** @param {Endpoint[]} endpoints @returns {RecordField[]} */
const fieldsOf = (endpoints) => [
  { name: "name", label: "Name", required: true },
  {
    name: "endpoint_id",
    label: "Endpoint",
    type: "select",
    isFixed: true,
    read: Number,
    options: endpoints.map(({ id, name, kind }) => [String(id), `${name} (${kind})`]),
    help: endpoints.length > 0 ? undefined : "none exists yet: add one under Media, Endpoints",
  },
  { name: "kinds", label: "Changes", type: "checks", options: KIND_NAMES.map((kind) => [kind, kindText(kind)]), value: ["price_drop"] },
  { name: "min_percent", label: "At least percent", type: "number", min: 0, empty: null, help: "of the old price, up or down; other changes are then left out" },
  { name: "min_cents", label: "At least dollars", type: "number", min: 0, empty: null, ...CENTS },
  { name: "max_price", label: "Price at most", type: "number", min: 0, empty: null, ...CENTS, help: "dollars, after the change" },
  { name: "max_unit_price", label: "Price by gram at most", type: "number", min: 0, empty: null, ...UNIT_CENTS, help: "dollars, after the change" },
  { name: "category", label: "Category", empty: null, placeholder: "flower", help: "as the menu names it; empty: every one" },
  { name: "brand", label: "Brand", empty: null },
  { name: "store_id", label: "Store", type: "store", empty: null, help: "empty: every one" },
  { name: "group_name", label: "Group of stores", empty: null },
  { name: "state", label: "State", empty: null, placeholder: "MI", read: (/** @type {string} */ text) => text.toUpperCase() },
  { name: "product_id", label: "Product", type: "number", min: 1, empty: null, help: "its id" },
  { name: "digest", label: "Sent", type: "select", options: DIGESTS },
  { name: "quiet_minutes", label: "Quiet hours", type: "number", min: 0, empty: 0, ...MINUTES, help: "a product that was sent is left out for this time" },
];

/**
 * @param {object} properties
 * @param {ChangeRule | null} properties.rule null: a new one
 * @param {Endpoint[]} properties.endpoints
 * @param {(id: number) => void} properties.onMade
 * @param {() => void} properties.onClose
 */
export function RuleForm({ rule, endpoints, onMade, onClose }) {
  const fields = filledIn(fieldsOf(endpoints), rule);
  const submit = async (/** @type {Values} */ values) => {
    const body = /** @type {any} */ (await bodyOf(fields, values, rule));
    if (rule) return send("PUT", pathOf("/api/media/change_rules/{id}", { id: rule.id }), body);
    const made = await send("POST", pathOf("/api/media/change_rules"), body);
    onMade(made.id);
    return made;
  };
  return html`<${FormDialog} title=${rule ? `Change rule ${rule.name}` : "Add a rule of changes"} action=${rule ? "Save" : "Add rule"}
    fields=${fields} submit=${submit} onClose=${onClose}
    done=${(/** @type {ChangeRule} */ { name }) => `The rule ${name} is ${rule ? "saved" : "added"}`} />`;
}
