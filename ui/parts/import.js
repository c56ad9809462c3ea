// @ts-check
// The dialog that imports a list, pasted or from a file, part by part. A fault names its line.

import { Refusal } from "../core/api.js";
import { lineName, linesOf } from "../core/csv.js";
import { count, plural } from "../core/format.js";
import { FormDialog } from "./form.js";
import { html } from "../core/html.js";

/** @import { Fault, Line } from "../core/csv.js" */
/** @template V @typedef {{ line: number, value: V }} Entry */
/**
 * Entries, and the faults that were found without the server. A faulty entry is among the entries, too, without its faulty cells:
 * the server finds its other faults.
 * @template V @typedef {{ entries: Entry<V>[], faults: Fault[] }} List
 */

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
 * @param {(lines: Line[]) => List<V>} properties.read
 * @param {(values: V[], isCheck: boolean) => Promise<A>} properties.send one part, or only its check; a refusal names an entry as `name[3]`
 * @param {(answers: A[]) => string} properties.done
 * @param {() => void} properties.onClose
 */
export function ImportDialog({ title, label, help, placeholder, read, send, done, onClose }) {
  const submit = async (/** @type {{ lines: string | null, file: File | null }} */ { lines, file }) => {
    const { entries, faults } = read(linesOf(await textOf(lines, file)));
    if (faults.length === 0 && entries.length === 0) throw refusal([{ field: "list", detail: "it holds no entry: paste lines or choose a file" }]);
    const parts = partsOf(entries);
    // one part alone is checked by its import, all or nothing
    if (faults.length > 0 || parts.length > 1) {
      const all = [...faults, ...(await checked(parts, (values) => send(values, true)))];
      if (all.length > 0) throw refusal(inOrder(all));
    }
    /** @type {A[]} */
    const answers = [];
    for (const [at, part] of parts.entries()) {
      try {
        answers.push(await send(part.map(({ value }) => value), false));
      } catch (error) {
        throw byLine(error, part, at * PART);
      }
    }
    return answers;
  };
  return html`<${FormDialog} title=${title} action="Import" onClose=${onClose} submit=${submit} done=${done}
    fields=${[
      { name: "lines", label, type: "textarea", placeholder, help },
      { name: "file", label: "Or a file", type: "file", accept: ".csv,.txt,text/csv,text/plain", help: "instead of the lines above" },
    ]} />`;
}

/** @template V @param {Entry<V>[]} entries @returns {Entry<V>[][]} */
const partsOf = (entries) =>
  Array.from({ length: Math.ceil(entries.length / PART) }, (_, at) => entries.slice(at * PART, (at + 1) * PART));

/**
 * The faults that the server finds in each part.
 * @template V
 * @param {Entry<V>[][]} parts
 * @param {(values: V[]) => Promise<unknown>} check
 */
async function checked(parts, check) {
  /** @type {Fault[]} */
  const faults = [];
  for (const part of parts) {
    try {
      await check(part.map(({ value }) => value));
    } catch (error) {
      const lined = byLine(error, part, 0);
      if (!(lined instanceof Refusal) || lined.fields.length === 0) throw lined;
      faults.push(...lined.fields);
    }
  }
  return faults;
}

/** By their lines. @param {Fault[]} faults */
const inOrder = (faults) => [...faults].sort((one, other) => lineOf(one) - lineOf(other));

/** @param {Fault} fault */
const lineOf = ({ field }) => Number(/\d+/.exec(field)?.[0] ?? 0);

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
  const imported = { field: "imported so far", detail: `${plural(before, "entry", "entries")}; correct the rest and import the list again` };
  const others = faults.length > 0 ? faults : [{ field: error.title, detail: error.detail }];
  return new Refusal(error.status, error.title, "", { fields: before > 0 ? [imported, ...others] : others });
}
