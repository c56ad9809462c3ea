// @ts-check
// A change of the audit as a sentence. In: a row. Out: its words, the changed thing, and the thing's page if it has
// one. Pure.

import { link } from "../../core/base.js";
import { duration, exactTime, plural } from "../../core/format.js";

/** @import { AuditRow } from "../../types/api" */
/** `paused`, `the role payload_fetch`, ` for 2 h`. @typedef {{ verb: string, thing?: string, href?: string | null, rest?: string }} Sentence */
/** @typedef {Record<string, any>} Detail JSON, as the endpoint of the action wrote it */

/** @type {Record<string, (detail: Detail, target: string, row: AuditRow) => Sentence>} */
const SENTENCES = {
  "pauses.create": ({ reason, until }, target, row) =>
    ({ verb: "paused", thing: scopeText(target), rest: forText(until, row) + because(reason) }),
  "pauses.delete": ({ reason }, target) =>
    ({ verb: "resumed", thing: scopeText(target), rest: reason ? `, which was paused: ${reason}` : "" }),
  "hosts.update": ({ breaker, why, until }, target, row) => ({
    verb: `${breaker === "open" ? "opened" : "closed"} the breaker of`,
    ...hostOf(target),
    rest: forText(until, row) + because(why),
  }),
  "platforms.read_key": ({ store, failure }, target) => ({
    verb: failure ? "found no key of" : "read the key of",
    thing: target,
    rest: (store ? ` on a page of store ${store}` : "") + because(failure),
  }),
  "hosts.delete": (_, target) => ({ verb: "deleted what was learned about", ...hostOf(target) }),

  "tasks.create": ({ role }, target) => ({ verb: "created", ...taskOf(target), rest: also(role) }),
  "tasks.raise": ({ role }, target) => ({ verb: "raised the priority of", ...taskOf(target), rest: also(role) }),
  "tasks.update": (_, target) => ({ verb: "changed", ...taskOf(target) }),
  "tasks.retry": (_, target) => ({ verb: "retried", ...taskOf(target) }),
  "tasks.cancel": (_, target) => ({ verb: "cancelled", ...taskOf(target) }),
  "tasks.delete": (_, target) => ({ verb: "deleted", thing: `task ${target}` }),
  "tasks.create_batch": ({ made, refused }, target) => ({
    verb: "created",
    thing: counted(made ?? target, "task"),
    rest: refused > 0 ? `; ${refused} more were refused` : "",
  }),
  "tasks.generate": ({ count }, target) => ({
    verb: "created",
    thing: counted(count, "task"),
    rest: target === "resync" ? " for a resync" : ` for stores in ${target}`,
  }),
  "tasks.bulk": (_, target) => ({ verb: "ran the bulk action", thing: target, rest: " on tasks" }),
  "tasks.recover": ({ threshold_minutes: minutes }) =>
    ({ verb: "recovered", thing: "tasks", rest: ` of workers that were silent for ${minutes} min` }),
  "jobs.create": ({ job_type: type }, target) => ({ verb: "created", thing: `job ${target}`, rest: also(type) }),
  "jobs.update": (_, target) => ({ verb: "changed", thing: `job ${target}` }),
  "jobs.retry": (_, target) => ({ verb: "retried", thing: `job ${target}` }),
  "jobs.cancel": (_, target) => ({ verb: "cancelled", thing: `job ${target}` }),
  "jobs.import": ({ imported }, target) => ({ verb: "imported", thing: counted(imported, "job"), rest: ` from ${target}` }),
  "jobs.delete": (_, target) => ({ verb: "deleted", thing: `job ${target}` }),

  "media.create": (_, target) => ({ verb: "added", thing: target }),
  "media.update": (_, target) => ({ verb: "changed", thing: target }),
  "media.delete": (_, target) => ({ verb: "deleted", thing: target }),
  "media.test": (_, target) => ({ verb: "tested", thing: target }),
  "notifications.resend": (_, target) => ({ verb: "sent", thing: target, rest: " again" }),

  "workers.order": ({ command }, target) => ({ verb: ORDERS[command] ?? `sent the command ${command} to`, thing: `worker ${target}` }),
  "workers.register": ({ friendly_name: name }, target) => ({ verb: "registered", thing: `worker ${name ?? target}` }),
  "workers.deregister": (_, target) => ({ verb: "deregistered", thing: `worker ${target}` }),
  "workers.scale": ({ from, to }, target) => ({ verb: "scaled", thing: target, rest: ` from ${from} to ${plural(to, "replica")}` }),

  "stores.set": (_, target) => ({ verb: "changed", ...storeOf(target) }),
  "stores.accept_empty": (_, target) => ({ verb: "accepted the empty menu of", ...storeOf(target) }),
  "stores.delete": ({ name }, target) => ({ verb: "deleted", thing: `store ${name ?? target}` }),
  "stores.import": ({ added }, target) =>
    ({ verb: "imported", thing: counted(target, "store"), rest: added === undefined ? "" : `, ${added} of them new` }),
  "stores.bulk": ({ matched, done }, target) =>
    ({ verb: "ran the bulk action", thing: target, rest: ` on ${counted(done ?? matched, "store")}` }),
  "groups.set_stores": ({ added, removed }, target) =>
    ({ verb: `added ${counted(added, "store")} to and removed ${removed} from`, ...groupOf(target) }),
  "groups.rename": ({ name }, target) => ({ verb: "renamed the group", thing: target, rest: ` to ${name}` }),
  "groups.delete": (_, target) => ({ verb: "deleted", thing: `the group ${target}` }),

  "proxies.create": (detail, target) => ({ verb: "added", ...proxyOf(detail, target) }),
  "proxies.update": (detail, target) =>
    ({ verb: SWITCHES[String(detail.change?.is_active)] ?? "changed", ...proxyOf(detail, target) }),
  "proxies.delete": (detail, target) => ({ verb: "deleted", ...proxyOf(detail, target), href: null }),
  "proxies.test": (detail, target) => ({ verb: "tested", ...proxyOf(detail, target), rest: detail.ok ? ": it works" : ": it does not work" }),
  "proxies.import": (_, target) => ({ verb: "imported", thing: counted(target, "proxy", "proxies") }),

  "schedules.create": ({ name }, target) => ({ verb: "added", ...scheduleOf(name ?? target) }),
  "schedules.update": ({ name, change }, target) =>
    ({ verb: SWITCHES[String(change?.enabled)] ?? "changed", ...scheduleOf(name ?? target) }),
  "schedules.delete": ({ name }, target) => ({ verb: "deleted", thing: `the schedule ${name ?? target}` }),
  "schedules.trigger": ({ name, tasks, already_made: isRepeated }, target) => ({
    verb: "triggered",
    ...scheduleOf(name ?? target),
    rest: isRepeated ? ", which had just run" : `, which created ${counted(tasks, "task")}`,
  }),
  "tokens.create": ({ name, role }, target) =>
    ({ verb: "created", thing: `the token ${name ?? target}`, rest: role ? ` with the role ${role}` : "" }),
  "tokens.revoke": ({ name }, target) => ({ verb: "revoked", thing: `the token ${name ?? target}` }),
  "migration.disable_old_schedules": ({ count }) =>
    ({ verb: "switched off", thing: counted(count, "schedule"), rest: " of the older schema" }),
  "migration.cancel_pending_crawl_jobs": ({ count }) =>
    ({ verb: "cancelled", thing: counted(count, "crawl job"), rest: " of the older schema" }),
  "migration.create_resync_tasks": ({ count }) => ({ verb: "created", thing: counted(count, "task"), rest: " for a resync" }),
  "migration.full_migrate": () => ({ verb: "moved", thing: "the older schema", rest: " to this one" }),
};

/** @type {Record<string, string>} */
const ORDERS = { pause: "paused", resume: "resumed", decommission: "decommissioned" };
/** @type {Record<string, string>} */
const SWITCHES = { true: "switched on", false: "switched off" };

/** @param {AuditRow} row @returns {Sentence} */
export function sentenceOf(row) {
  const write = SENTENCES[row.action];
  if (write) return write(/** @type {Detail} */ (row.detail ?? {}), row.target, row);
  return { verb: `did ${row.action}`, thing: row.target && `on ${row.target}` };
}

/** @type {Record<string, string>} */
const CALLERS = { "command line": "The command line", "a crawl": "A crawl" };

/** The caller as the beginning of a sentence. @param {string} who */
export const callerText = (who) => CALLERS[who] ?? who;

/** `the role payload_fetch` from `role payload_fetch`. @param {string} target */
const scopeText = (target) => (target === "everything" ? target : `the ${target}`);

/** @param {string | null | undefined} until @param {AuditRow} row */
function forText(until, { at }) {
  if (!until) return "";
  const minutes = Math.round((Date.parse(until) - Date.parse(at)) / 60_000);
  return minutes > 0 ? ` for ${duration(60 * minutes)}` : ` until ${exactTime(until)}`;
}

/** @param {unknown} detail */
const also = (detail) => (detail ? `, ${detail}` : "");
/** @param {unknown} reason */
const because = (reason) => (reason ? `: ${reason}` : "");

/** @param {unknown} number @param {string} one @param {string} [many] */
const counted = (number, one, many) =>
  (/^\d+$/.test(String(number)) ? plural(Number(number), one, many) : `some ${many ?? `${one}s`}`);

/** @param {string} id */
const taskOf = (id) => ({ thing: `task ${id}`, href: link(`/admin/tasks/${id}`) });
/** @param {string} id */
const storeOf = (id) => ({ thing: `store ${id}`, href: link(`/admin/stores/${id}`) });
/** @param {string} host */
const hostOf = (host) => ({ thing: `the host ${host}`, href: link("/admin/hosts") });
/** @param {string} name */
const groupOf = (name) => ({ thing: `the group ${name}`, href: link("/admin/stores", { group: name }) });
/** @param {string} name */
const scheduleOf = (name) => ({ thing: `the schedule ${name}`, href: link("/admin/schedules") });

/** Its address, which older rows lack. @param {Detail} detail @param {string} id */
function proxyOf({ address }, id) {
  if (!address) return { thing: `proxy ${id}` };
  return { thing: `proxy ${address}`, href: link("/admin/proxies", { q: String(address).replace(/^[a-z0-9]+:\/\//, "") }) };
}
