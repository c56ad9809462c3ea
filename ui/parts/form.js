// @ts-check
// A form in a dialog. In: its fields, and a function for their values. A refusal is shown at the field that
// it names.

import { Refusal } from "../core/api.js";
import { count } from "../core/format.js";
import { html, useEffect, useRef, useState } from "../core/html.js";
import { reloadAll } from "../core/resource.js";
import { Dialog } from "./dialog.js";
import { StoreField } from "./store-field.js";
import { refusalText, toast } from "./toast.js";

/** @import { Children, EventOf } from "../core/html.js" */

/** Maximum number of faults that are listed. */
const MAX_FAULTS = 20;

/**
 * The values of a form by the names of its fields; null where a field was left empty.
 * @typedef {Record<string, string | number | boolean | File | string[] | null>} Values
 */

/**
 * @typedef {object} Field
 * @property {string} name as the API names it
 * @property {string} label
 * @property {string} [help]
 * @property {"text" | "number" | "select" | "checkbox" | "textarea" | "password" | "datetime-local" | "file" | "store" | "checks"} [type] of a store: its value is the id; of checks: several of the options
 * @property {(string | [string, string])[]} [options] of a select or checks: values, or pairs of value and word
 * @property {string | number | boolean | string[] | null} [value] at first
 * @property {boolean} [required]
 * @property {number | string} [min]
 * @property {number | string} [max]
 * @property {string} [placeholder]
 * @property {string} [accept] kinds of files
 */

/**
 * @template R
 * @param {object} properties
 * @param {string} properties.title
 * @param {Children} [properties.children] above the fields
 * @param {Field[]} properties.fields
 * @param {string} properties.action
 * @param {(values: Values) => Promise<R>} properties.submit
 * @param {string | ((result: R) => string)} properties.done the message afterwards
 * @param {() => void} properties.onClose
 */
export function FormDialog({ title, children, fields, action, submit, done, onClose }) {
  const [error, fail] = useState(/** @type {unknown} */ (null));
  const [isSending, sending] = useState(false);
  const isShown = useRef(true);
  useEffect(() => () => void (isShown.current = false), []);
  const send = async (/** @type {EventOf<HTMLFormElement>} */ event) => {
    event.preventDefault();
    sending(true);
    fail(null);
    try {
      const result = await submit(valuesOf(event.target, fields));
      toast("good", typeof done === "string" ? done : done(result));
      reloadAll();
      if (isShown.current) onClose();
    } catch (refused) {
      if (!isShown.current) return toast("bad", refusalText(refused));
      fail(refused);
      sending(false);
    }
  };
  const wrong = error instanceof Refusal ? error.fields : [];
  const isPlaced = wrong.length > 0 && wrong.every(({ field }) => fields.some(({ name }) => name === field));
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${send}><div class="stack">
      ${children}
      ${fields.map((field) => html`<${Input} key=${field.name} field=${field}
        wrong=${wrong.find((each) => each.field === field.name)?.detail} />`)}
      ${error && !isPlaced && html`<${Faults} of=${wrong} text=${refusalText(error)} />`}
      <div class="row">
        <button class="btn" type="button" onClick=${onClose}>Cancel</button>
        <button class="btn primary" type="submit" disabled=${isSending}>${action}</button>
      </div>
    </div></form>
  </${Dialog}>`;
}

/** Faults that belong to no field, such as those of the lines of a list. @param {{ of: Refusal["fields"], text: string }} properties */
function Faults({ of, text }) {
  if (of.length < 2) return html`<p class="bad" role="alert">${text}</p>`;
  return html`<ul class="bad faults" role="alert">
    ${of.slice(0, MAX_FAULTS).map(({ field, detail }) => html`<li><b>${field}</b>: ${detail}</li>`)}
    ${of.length > MAX_FAULTS && html`<li>and ${count(of.length - MAX_FAULTS)} more</li>`}</ul>`;
}

/** @param {{ field: Field, wrong?: string }} properties */
function Input({ field, wrong }) {
  const { name, label, help, type = "text", options = [], value, required, min, max, placeholder, accept } = field;
  const id = `field-${name}`;
  const note = wrong ?? help;
  const described = note ? `${id}-note` : undefined;
  const common = { id, name, required, "aria-describedby": described, "aria-invalid": wrong ? "true" : undefined };
  if (type === "checkbox") {
    return html`<div class=${`field ${wrong ? "wrong" : ""}`}>
      <label><input ...${common} type="checkbox" defaultChecked=${!!value} /> ${label}</label>
      <${Note} id=${described} text=${note} /></div>`;
  }
  if (type === "checks") {
    const checked = Array.isArray(value) ? value : [];
    return html`<fieldset id=${id} tabindex="-1" class=${`field checks ${wrong ? "wrong" : ""}`} aria-describedby=${described}><legend>${label}</legend>
      ${options.map(pairOf).map(([key, word]) => html`<label key=${key}><input type="checkbox" name=${name} value=${key}
        defaultChecked=${checked.includes(key)} /> ${word}</label>`)}
      <${Note} id=${described} text=${note} /></fieldset>`;
  }
  const input =
    type === "select"
      ? html`<select ...${common}>${options.map(pairOf).map(([key, word]) =>
          html`<option key=${key} value=${key} selected=${String(value ?? "") === key}>${word}</option>`)}</select>`
      : type === "textarea"
        ? html`<textarea ...${common} rows="6" placeholder=${placeholder} defaultValue=${value ?? ""}></textarea>`
        : type === "store"
          ? html`<${StoreField} id=${id} name=${name} required=${required} described=${described} isWrong=${!!wrong} first=${value ?? ""} />`
        : type === "file"
          ? html`<input ...${common} type="file" accept=${accept} />`
          : html`<input ...${common} type=${type} min=${min} max=${max} step=${type === "number" ? "any" : undefined}
              placeholder=${placeholder}
              defaultValue=${value ?? ""} autocomplete="off" />`;
  return html`<div class=${`field ${wrong ? "wrong" : ""}`}><label for=${id}>${label}</label>${input}
    <${Note} id=${described} text=${note} /></div>`;
}

/** @param {string | [string, string]} option @returns {[string, string]} */
const pairOf = (option) => (typeof option === "string" ? [option, option] : option);

/** @param {{ id?: string, text?: string }} properties */
const Note = ({ id, text }) => text && html`<small id=${id}>${text}</small>`;

/** @param {HTMLFormElement} form @param {Field[]} fields */
function valuesOf(form, fields) {
  /** @type {Values} */
  const values = {};
  for (const { name, type } of fields) {
    if (type === "checks") {
      values[name] = [...form.querySelectorAll(`[name="${name}"]:checked`)].map((each) => /** @type {HTMLInputElement} */ (each).value);
      continue;
    }
    const input = /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
    if (type === "checkbox") values[name] = input.checked;
    else if (type === "file") values[name] = input.files?.[0] ?? null;
    else if (input.value.trim() === "") values[name] = null;
    else if (type === "number" || type === "store") values[name] = Number(input.value);
    else if (type === "datetime-local") values[name] = new Date(`${input.value}Z`).toISOString();
    else values[name] = type === "password" ? input.value : input.value.trim();
  }
  return values;
}

/** The filled-in values: the rest keeps its default. @template {object} T @param {T} values */
export const given = (values) =>
  /** @type {T} */ (Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)));
