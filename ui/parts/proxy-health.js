// @ts-check
// The health of proxies, from their rows and the counts of the last hour. Pure.

import { pointsOfKey, total } from "./series.js";

/** @import { ProxyListing, StatsSeries } from "../types/api" */

/**
 * @typedef {object} ProxyHealth
 * @property {ProxyListing} proxy
 * @property {"active" | "suffers" | "benched" | "off"} state
 * @property {number[]} requests by minute
 * @property {number[]} blocked by minute
 * @property {number} asked in the whole period
 * @property {number} refused in the whole period
 */

/** Minimum requests for a judgement of a proxy. */
const ENOUGH = 10;
/** Share of refusals from which on a proxy suffers. */
const SUFFERS_FROM = 0.1;
const ORDER = ["benched", "suffers", "active", "off"];

/**
 * In trouble first.
 * @param {ProxyListing[]} proxies
 * @param {StatsSeries | null} requests by proxy
 * @param {StatsSeries | null} blocks the same
 * @returns {ProxyHealth[]}
 */
export function health(proxies, requests, blocks) {
  const all = proxies.map((proxy) => {
    const asked = pointsOfKey(requests, String(proxy.id));
    const blocked = pointsOfKey(blocks, String(proxy.id));
    const sums = { asked: total(asked), refused: total(blocked) };
    return { proxy, requests: asked, blocked, ...sums, state: stateOf(proxy.state, sums.asked, sums.refused) };
  });
  return all.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || b.refused - a.refused || a.proxy.id - b.proxy.id);
}

/** @param {string} state @param {number} asked @param {number} refused @returns {ProxyHealth["state"]} */
function stateOf(state, asked, refused) {
  if (state !== "active") return state === "benched" ? "benched" : "off";
  return asked >= ENOUGH && refused / asked > SUFFERS_FROM ? "suffers" : "active";
}
