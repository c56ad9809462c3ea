// @ts-check
// The dialog that imports a list, pasted or from a file, part by part. A fault names its line.

import { Refusal } from "../core/api.js";
import { lineName, linesOf } from "../core/csv.js";
import { count } from "../core/format.js";
import { FormDialog } from "./form.js";
import { html } from "../core/html.js";

/** @import { Fault, Line } from "../core/csv.js" */
/** @template V @typedef {{ line: number, value: V }} Entry */

/** Maximum entries of a request; the API takes no more. */
const PART = 1_000;
const MAX_FILE_BYTES = 20_000_000;

/**
 * @template V, A
 * @param {object} properties
 * @param {string} properties.title
 * @param {string} properties.label of the lines
 * @param {string} properties.help
 * @param {string} properties.placeholder
 * @param {(lines: Line[]) => { entries: Entry<V>[], faults: Fault[] }} properties.read
 * @param {(values: V[]) => Promise<A>} properties.send one part; a refusal names an entry as `name[3]`
 * @param {(answers: A[]) => string} properties.done
 * @param {() => void} properties.onClose
 */
export function ImportDialog({ title, label, help, placeholder, read, send, done, onClose }) {
  const submit = async (/** @type {{ lines: string | null, file: File | null }} */ { lines, file }) => {
    const { entries, faults } = read(linesOf(await textOf(lines, file)));
    if (faults.length > 0) throw refusal(faults);
    if (entries.length === 0) throw refusal([{ field: "list", detail: "it holds no entry: paste lines or choose a file" }]);
    /** @type {A[]} */
    const answers = [];
    for (let at = 0; at < entries.length; at += PART) {
      const part = entries.slice(at, at + PART);
      try {
        answers.push(await send(part.map(({ value }) => value)));
      } catch (error) {
        throw byLine(error, part, at);
      }
    }
    return answers;
  };
  return html`<${FormDialog} title=${title} action="Import" onClose=${onClose} submit=${submit} done=${done}
    fields=${[
      { name: "lines", label, type: "textarea", placeholder, help },
      { name: "file", label: "Or a file", type: "file", accept: ".csv,.txt,text/csv,text/plain", help: "in place of the lines above" },
    ]} />`;
}

/** @param {string | null} lines @param {File | null} file */
async function textOf(lines, file) {
  if (!file) return lines ?? "";
  if (file.size > MAX_FILE_BYTES) throw refusal([{ field: file.name, detail: `it is larger than ${count(MAX_FILE_BYTES)} bytes` }]);
  return file.text();
}

/** @param {Fault[]} fields */
const refusal = (fields) => new Refusal(400, "The list has faults", "", { fields });

/**
 * The refusal of a part with the lines in place of the entries' numbers.
 * @param {unknown} error
 * @param {Entry<unknown>[]} part
 * @param {number} before entries that were imported
 */
function byLine(error, part, before) {
  if (!(error instanceof Refusal)) return error;
  const lined = (/** @type {string} */ text) =>
    text.replace(/\b[a-z]+\[(\d+)\]/g, (named, at) => (part[Number(at)] ? lineName(part[Number(at)].line) : named));
  const faults = error.fields.map(({ field, detail }) => ({ field: lined(field), detail: lined(detail) }));
  if (before === 0 && faults.length === 0) return error;
  const imported = { field: "imported so far", detail: `${count(before)} entries; correct the rest and import the list again` };
  const others = faults.length > 0 ? faults : [{ field: error.title, detail: error.detail }];
  return new Refusal(error.status, error.title, "", { fields: before > 0 ? [imported, ...others] : others });
}
