// @ts-check
// The words that filter tasks, with the API's names in the address.

import { rolesOf } from "../../core/roles.js";
import { roles as allRoles } from "../../core/session.js";
import { suggestStores } from "../../core/stores.js";
import { PLATFORM, readId } from "../../parts/query-box.js";

/** @import { Qualifier } from "../../parts/query-box.js" */
/** @import { ShownStatus } from "../../types/api" */

/** @type {ShownStatus[]} */
export const STATUSES = ["pending", "claimed", "running", "completed", "failed", "cancelled", "stale"];
/** The parameter of words without a qualifier. */
export const TEXT = "q";

/** `>1` means two or more, `>=1` and `1` one or more. @param {string} text */
function retries(text) {
  const found = /^(>=|>)?(\d{1,4})$/.exec(text);
  return found ? String(Number(found[2]) + (found[1] === ">" ? 1 : 0)) : null;
}

/** A day, a time, or an age: `2h`, `3d`. @param {string} text */
function since(text) {
  const ago = /^(\d{1,4})([mhd])$/.exec(text);
  const units = /** @type {Record<string, number>} */ ({ m: 60_000, h: 3_600_000, d: 86_400_000 });
  const time = ago ? Math.floor(Date.now() / 60_000) * 60_000 - Number(ago[1]) * units[ago[2]] : Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** One role, several with commas, or a family. @param {string} text */
const roles = (text) => (text.split(",").every((role) => roleWords().includes(role)) ? text : null);
const roleWords = () => [...allRoles().map(({ role }) => /** @type {string} */ (role)), "product_resync", "any", "media"];

/** @type {Qualifier[]} */
export const QUALIFIERS = [
  { word: "words", parameter: TEXT, help: "the beginning of an id, a worker's id or a store's slug" },
  { word: "status", parameter: "status", values: STATUSES },
  {
    word: "role",
    parameter: "role",
    get values() { return rolesOf("crawl"); },
    read: roles,
    get help() { return `${rolesOf("crawl").join(", ")}; several with commas, any or media`; },
  },
  { word: "error", parameter: "error", help: "part of the error, in quotes if it has spaces" },
  {
    word: "retries",
    parameter: "min_retries",
    type: "number",
    values: [">0", ">1", ">2"],
    help: "a number, such as >1",
    read: retries,
    write: (value) => `>${Number(value) - 1}`,
  },
  { word: "store", parameter: "dispensary_id", type: "number", help: "a part of its name, or its id", read: readId, find: suggestStores },
  { word: "worker", parameter: "worker_id", help: "a worker's id" },
  PLATFORM,
  { word: "schedule", parameter: "schedule_id", type: "number", help: "a schedule's id", read: readId },
  { word: "parent", parameter: "parent_task_id", type: "number", help: "a task's id", read: readId },
  {
    word: "since",
    parameter: "created_after",
    help: "created since: 2h, 3d, or a day",
    read: since,
    write: (value) => value.slice(0, 16).replace("T", " "),
    accepts: (value) => since(value) !== null,
  },
];
