// @ts-check
// One sentence on the state, which is the API's, and the worst problems.

import { link } from "../../core/base.js";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { may } from "../../core/session.js";
import { Icon } from "../../parts/icon.js";
import { pausedThing } from "../../parts/pause.js";
import { HEALTH, isInTrouble, TROUBLE } from "../../parts/proxy-health.js";
import { hrefOf } from "./failures.js";

/** Maximum number of problems that are shown. */
const MAX_TROUBLES = 6;

/** @import { Failures, HealthCounts, HostListing, ImageTotals, OverviewAnswer, Pause, ReadyTasks } from "../../types/api" */
/** @import { StoreCounts, TaskCounts, WorkerDocument, WorkerStatus } from "../../types/api" */
/** @import { ProxyHealth } from "../../parts/proxy-health.js" */

/**
 * @typedef {object} Seen data that the overview has read so far; missing data is undefined or null
 * @property {OverviewAnswer | null} overview
 * @property {HostListing[]} [hosts] whose breakers are not closed
 * @property {ProxyHealth[] | null} proxies
 */

/**
 * Enough data for a verdict.
 * @typedef {Seen & { overview: OverviewAnswer }} Read
 */

/** @typedef {{ kind: "bad" | "hold" | "warn", icon: string, href?: string, text: string, more: string }} Trouble */

/** @param {Seen} seen */
export function Verdict(seen) {
  const { overview, hosts, proxies } = seen;
  if (!overview || !hosts || !proxies) {
    return html`<section class="verdict" aria-label="Verdict"><p class="dim">Loading the state.</p></section>`;
  }
  const read = { ...seen, overview };
  const troubles = troublesOf(read);
  const shown = troubles.slice(0, MAX_TROUBLES);
  const { state, why } = overview.verdict;
  const lead = leadOf(troubles.length);
  return html`<section class="verdict" aria-label="Verdict">
    <p><b>${state}</b> ${why}${lead}</p>
    ${shown.length > 0 &&
    html`<ul>${shown.map(({ kind, icon, href, text, more }) =>
      html`<li><span class=${kind}><${Icon} name=${icon} /></span> <a href=${href}>${text}</a>${more}</li>`)}</ul>`}
  </section>`;
}

/** @param {number} troubles */
function leadOf(troubles) {
  if (troubles === 0) return "";
  const number = ["", "One", "Two", "Three", "Four", "Five", "Six"][troubles] ?? count(troubles);
  const shown = troubles > MAX_TROUBLES ? `, the worst ${count(MAX_TROUBLES)}` : "";
  return ` ${number} ${troubles === 1 ? "thing" : "things"} to look at${shown}:`;
}

/** Tasks in the hands of a worker. @param {TaskCounts} counts */
export const runningOf = (counts) => counts.running + counts.claimed;

/** Words for workers that take no task: one, and several. @type {[WorkerStatus, string, string][]} */
const HELD = [
  ["draining", "drains", "drain"],
  ["paused", "is paused", "are paused"],
  ["backing_off", "backs off", "back off"],
  ["offline", "is lost", "are lost"],
];

/** `3 workers drain, 1 is paused`. @param {WorkerDocument[]} workers */
function heldText(workers) {
  const parts = HELD.flatMap(([status, one, many]) => {
    const number = workers.filter((worker) => worker.status === status).length;
    return number > 0 ? [{ number, words: number === 1 ? one : many }] : [];
  });
  return parts.map(({ number, words }, at) => `${at === 0 ? plural(number, "worker") : count(number)} ${words}`).join(", ");
}

/** @param {ReadyTasks[]} ready */
export const oldestReady = (ready) => Math.max(0, ...ready.map(({ oldest_seconds }) => oldest_seconds));

/**
 * @param {Trouble["kind"]} kind @param {string} icon @param {string | undefined} href
 * @param {string} text @param {string} more
 * @returns {Trouble}
 */
const trouble = (kind, icon, href, text, more) => ({ kind, icon, href, text, more });

/** @param {string} name @param {number} number */
const firstOf = (name, number) => `: ${name}${number > 1 ? " and others" : ""}`;

/** The worst first. @param {Read} read @returns {Trouble[]} */
function troublesOf({ overview, hosts = [], proxies }) {
  /** @type {(Trouble | false)[]} */
  const troubles = [
    pausedThings(overview.pauses),
    openHosts(hosts),
    failedTasks(overview.failures),
    troubledProxies(overview.proxies, proxies ?? []),
    staleTasks(overview.counts),
    heldWorkers(overview.workers),
    ...troubledStores(overview.stores),
    refusedImages(overview.images),
  ];
  return troubles.filter((trouble) => trouble !== false);
}

/** The pause of everything is the sentence itself. @param {Pause[]} pauses @returns {Trouble | false} */
function pausedThings(pauses) {
  const parts = pauses.filter(({ scope }) => scope !== "all");
  if (parts.length === 0) return false;
  const text = parts.length === 1 ? `${pausedThing(parts[0])} is paused` : `${count(parts.length)} things are paused`;
  const more = parts.length === 1 ? parts[0].reason : parts.map(pausedThing).slice(0, 3).join(", ");
  return trouble("hold", "pause", link("/admin/job-queue"), text, `: ${more}`);
}

/** @param {Failures} failures @returns {Trouble | false} */
function failedTasks(failures) {
  const { tasks, reasons } = failures;
  if (tasks === 0) return false;
  const isNamed = reasons[0].tasks > 1 && reasons.length > 1;
  const more = ` in an hour${isNamed ? `, ${count(reasons[0].tasks)} for one reason` : ""}`;
  return trouble("bad", "failed", hrefOf(failures), `${plural(tasks, "task")} failed`, more);
}

/** A single one is named. @param {HealthCounts} counts @param {ProxyHealth[]} fleet @returns {Trouble | false} */
function troubledProxies(counts, fleet) {
  const troubled = TROUBLE.reduce((sum, health) => sum + counts[health], 0);
  if (troubled === 0) return false;
  const all = HEALTH.reduce((sum, health) => sum + counts[health], 0);
  const parts = TROUBLE.filter((health) => counts[health] > 0).map((health) => `${count(counts[health])} ${health}`);
  const one = troubled === 1 ? fleet.find(isInTrouble)?.proxy : undefined;
  const text = `${count(troubled)} of ${plural(all, "proxy", "proxies")} in trouble`;
  return trouble("hold", "pause", link("/admin/proxies"), text, `: ${parts.join(", ")}${one ? `, ${one.host}:${one.port}` : ""}`);
}

/** @param {HostListing[]} open @returns {Trouble | false} */
function openHosts(open) {
  if (open.length === 0) return false;
  const more = firstOf(open[0].host, open.length);
  return trouble("bad", "open", link("/admin/hosts"), `Requests to ${plural(open.length, "host")} wait`, more);
}

/** @param {TaskCounts} counts @returns {Trouble | false} */
function staleTasks({ stale }) {
  if (stale === 0) return false;
  return trouble("warn", "stale", link("/admin/tasks", { status: "stale" }), `${plural(stale, "task")} stale`, ": their worker is silent");
}

/** @param {WorkerDocument[]} workers @returns {Trouble | false} */
function heldWorkers(workers) {
  const held = workers.filter(({ status }) => status !== "active");
  if (held.length === 0) return false;
  const reason = held.find(({ resources }) => resources.backoff_reason)?.resources.backoff_reason;
  return trouble("hold", "pause", link("/admin/workers"), heldText(held), ` of ${count(workers.length)}${reason ? `: ${reason}` : ""}`);
}

/** @param {ImageTotals} images @returns {Trouble | false} */
function refusedImages({ failed }) {
  const number = failed.find(({ reason }) => reason === "refused_host")?.images ?? 0;
  if (number === 0) return false;
  const href = may("admin") ? link("/admin/settings", { q: "image_hosts" }) : undefined;
  const more = `: ${number === 1 ? "its host is" : "their hosts are"} in no platform's image_hosts; once they are added and drover is restarted, later crawls try again`;
  return trouble("warn", "warn", href, `${plural(number, "image")} not downloaded`, more);
}

/** The trouble of each state: its kind, icon and words. @type {[keyof StoreCounts, "bad" | "hold" | "warn", string, string][]} */
const STORE_TROUBLES = [
  ["empty_menu", "bad", "failed", "with an empty menu"],
  ["needs_menu_id", "bad", "failed", "without a menu id"],
  ["held", "hold", "pause", "with their host on hold"],
  ["late", "warn", "stale", "late"],
  ["never_crawled", "warn", "stale", "never crawled"],
];

/** One trouble for each state, the first store by name. @param {StoreCounts} stores @returns {Trouble[]} */
function troubledStores(stores) {
  return STORE_TROUBLES.flatMap(([state, kind, icon, words]) => {
    const number = /** @type {number} */ (stores[state]);
    if (number === 0) return [];
    const first = stores.troubled.find(({ crawl_status: status }) => status === state);
    const href = number === 1 && first ? link(`/admin/stores/${first.id}`) : link("/admin/stores", { crawl_status: state });
    const more = first ? firstOf(first.name, number) : "";
    return [trouble(kind, icon, href, `${plural(number, "store")} ${words}`, more)];
  });
}
