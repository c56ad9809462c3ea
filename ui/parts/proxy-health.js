// @ts-check
// Proxies in trouble first, with the counts of the last hour. Their health is the API's word.

import { pointsOfKey, total, useSeries } from "./series.js";

/** @import { ProxyListing, ShownHealth, StatsSeries } from "../types/api" */

/**
 * @typedef {object} ProxyHealth
 * @property {ProxyListing} proxy
 * @property {ShownHealth} health
 * @property {number[]} requests by minute
 * @property {number[]} blocked by minute
 * @property {number[]} unanswered by minute
 * @property {number} asked in the whole period
 * @property {number} refused in the whole period
 */

/** @type {ShownHealth[]} */
export const TROUBLE = ["failing", "refused", "benched"];
/** @type {ShownHealth[]} */
export const HEALTH = [...TROUBLE, "untested", "healthy", "off"];

/** Requests of the last hour by proxy; those that a host refused, and those without an answer. */
export const useProxySeries = () =>
  /** @type {const} */ (["requests", "blocks", "unanswered"]).map((metric) => useSeries({ metric, by: "proxy", series: 100 }).data);

/**
 * In trouble first.
 * @param {ProxyListing[]} proxies
 * @param {StatsSeries | null} requests by proxy
 * @param {StatsSeries | null} blocks the same
 * @param {StatsSeries | null} silences the same
 * @returns {ProxyHealth[]}
 */
export function fleetOf(proxies, requests, blocks, silences) {
  const all = proxies.map((proxy) => {
    const asked = pointsOfKey(requests, String(proxy.id));
    const blocked = pointsOfKey(blocks, String(proxy.id));
    const unanswered = pointsOfKey(silences, String(proxy.id));
    return { proxy, health: proxy.health, requests: asked, blocked, unanswered, asked: total(asked), refused: total(blocked) };
  });
  return all.sort((a, b) => HEALTH.indexOf(a.health) - HEALTH.indexOf(b.health) || b.refused - a.refused || a.proxy.id - b.proxy.id);
}

/** @param {ProxyHealth} each */
export const isInTrouble = ({ health }) => TROUBLE.includes(health);

/** Number of proxies with this health. @param {ProxyHealth[]} fleet @param {ShownHealth} wanted */
export const numberOf = (fleet, wanted) => fleet.filter(({ health }) => health === wanted).length;

/** Share of the latest requests that went well, over a group. @param {Pick<ProxyHealth, "proxy">[]} group @returns {[number, number]} */
export function goodOf(group) {
  const good = group.map(({ proxy }) => (proxy.healthy_share ?? 0) * proxy.recent_requests);
  return [total(good), total(group.map(({ proxy }) => proxy.recent_requests))];
}
