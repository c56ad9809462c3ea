// @ts-check
// Stores by a part of their names: for the places that ask for one. In: a text. Out: their ids, and what people know them by.

import { get, pathOf } from "./api.js";

/** Maximum number of stores that are offered. */
const OFFERED = 9;

/** @param {string} text @param {AbortSignal} [signal] @returns {Promise<{ id: number, name: string, place: string }[]>} */
export async function findStores(text, signal) {
  const { stores } = await get(pathOf("/api/stores", { q: text, limit: OFFERED }), { signal });
  return stores.map(({ id, name, city, state }) => ({ id, name, place: [city, state].filter(Boolean).join(", ") }));
}

/** For the filter of a list. @param {string} text @param {AbortSignal} signal */
export const suggestStores = async (text, signal) =>
  (await findStores(text, signal)).map(({ id, name, place }) => ({ line: String(id), help: [name, place].filter(Boolean).join(", ") }));
