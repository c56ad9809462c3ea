// @ts-check
// Forms of records that people keep: a new one is sent whole, of a change all that differs.

import { Refusal } from "../core/api.js";

/** @import { Field, Values } from "./form.js" */

/**
 * @typedef {object} Own
 * @property {boolean} [isFixed] it is given once, with a new record
 * @property {string} [into] the field that its value is sent as, where that is another
 * @property {unknown} [empty] sent in a change where it was left empty; without it nothing is
 * @property {(value: any) => unknown} [read] the sent value
 * @property {(value: any) => string} [write] the value as the form shows it
 */
/** @typedef {Field & Own} RecordField */

/** How often events or changes become a notification. */
export const DIGESTS = /** @type {[string, string][]} */ ([
  ["none", "at once"],
  ["hourly", "at most once an hour"],
  ["daily", "at most once a day"],
]);

/** @param {string} digest */
export const digestText = (digest) => DIGESTS.find(([key]) => key === digest)?.[1] ?? digest;

/**
 * The body of a request: all that is filled in for a new record, all that differs for a change.
 * @param {RecordField[]} fields
 * @param {Values} values
 * @param {Record<string, unknown> | null} record
 */
export async function bodyOf(fields, values, record) {
  /** @type {Record<string, unknown>} */
  const body = {};
  for (const { name, into = name, read, empty } of fields) {
    const given = values[name] ?? null;
    const value = given === null ? (record ? empty : undefined) : read ? await read(given) : given;
    if (value === undefined || (record && JSON.stringify(value) === JSON.stringify(record[name] ?? null))) continue;
    if (into in body) throw new Refusal(400, "Two secrets", "", { fields: [{ field: name, detail: `give either this or the ${into}` }] });
    body[into] = value;
  }
  return body;
}

/**
 * The fields with the values of a record; those that are given once are left out of its change.
 * @template {RecordField} F
 * @param {F[]} fields
 * @param {Record<string, any> | null} record null: a new one
 * @returns {F[]}
 */
export function filledIn(fields, record) {
  if (!record) return fields;
  return fields.filter(({ isFixed }) => !isFixed).map((field) => {
    const kept = record[field.name] ?? null;
    return { ...field, value: kept === null || !field.write ? kept : field.write(kept) };
  });
}
