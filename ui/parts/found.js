// @ts-check
// The search of the box in the top bar. In: a text. Out: the pages and states whose names begin with it, and the
// tasks, stores, products and proxies that the server finds.

import { get, pathOf } from "../core/api.js";
import { link } from "../core/base.js";
import { may } from "../core/session.js";
import { PAGES } from "../pages.js";

/** @import { ProxyListing } from "../types/api" */
/** @import { Found } from "./find.js" */

/** Maximum results of one kind. */
const EACH = 4;

/** Words for states that have a list: the page, its parameter, and the values. @type {[page: string, parameter: string, of: string, words: string[]][]} */
const STATES = [
  ["/admin/tasks", "status", "tasks", ["pending", "running", "completed", "failed", "cancelled", "stale"]],
  ["/admin/stores", "crawl_status", "stores", ["late", "never_crawled", "needs_menu_id", "empty_menu", "held", "fresh"]],
  ["/admin/proxies", "health", "proxies", ["failing", "refused", "benched", "untested", "healthy", "off"]],
];

/** Pages and states whose names have a word that begins with this text. @param {string} text @returns {Found[]} */
export function named(text) {
  const wanted = text.toLowerCase();
  const begins = (/** @type {string} */ name) => ` ${name.toLowerCase()}`.includes(` ${wanted}`);
  const pages = PAGES.filter(({ title, role }) => title && begins(title) && (!role || may(role)));
  const states = STATES.flatMap(([page, parameter, of, words]) =>
    words.map((word) => ({ href: link(page, { [parameter]: word }), text: `${word.replaceAll("_", " ")} ${of}`, kind: "state" })));
  return [
    ...pages.map(({ path, title = "" }) => ({ href: link(path), text: title, kind: "page" })),
    ...states.filter((state) => begins(state.text)),
  ].slice(0, EACH);
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function search(text, signal) {
  if (!text) return [];
  const none = () => null;
  const [task, stores, products, proxies] = await Promise.all([
    /^\d{1,18}$/.test(text) ? get(pathOf("/api/tasks/{id}", { id: text }), { signal }).catch(none) : null,
    get(pathOf("/api/stores", { q: text, limit: EACH }), { signal }).catch(none),
    text.length > 2 ? get(pathOf("/api/products/search", { q: text, limit: EACH }), { signal }).catch(none) : null,
    get(pathOf("/api/proxies", { limit: 500 }), { signal }).catch(none),
  ]);
  const isAlike = (/** @type {ProxyListing} */ proxy) => `${proxy.host}:${proxy.port}`.includes(text);
  return [
    ...named(text),
    ...(task ? [{ href: link(`/admin/tasks/${task.id}`), text: `${task.id} ${task.role}`, kind: "task" }] : []),
    ...(stores?.stores ?? []).map(({ id, name }) => ({ href: link(`/admin/stores/${id}`), text: name, kind: "store" })),
    ...(products?.products ?? []).map(({ id, name }) => ({ href: link(`/admin/products/${id}`), text: name, kind: "product" })),
    ...(proxies?.proxies ?? []).filter(isAlike).slice(0, EACH).map(foundProxy),
  ];
}

/** @param {ProxyListing} proxy @returns {Found} */
function foundProxy({ host, port }) {
  const text = `${host}:${port}`;
  return { href: link("/admin/proxies", { q: text }), text, kind: "proxy" };
}
