// @ts-check
// Equal data keeps its identity, so that its components are not drawn again.

/**
 * `next`, with every part that equals its part of `last` replaced by that one. Rows of lists match by id.
 * @template T
 * @param {unknown} last
 * @param {T} next
 * @returns {T}
 */
export function same(last, next) {
  if (Object.is(last, next)) return next;
  if (typeof last !== "object" || typeof next !== "object" || last === null || next === null) return next;
  if (Array.isArray(next)) return Array.isArray(last) ? /** @type {T & unknown[]} */ (list(last, next)) : next;
  return Array.isArray(last) ? next : /** @type {T} */ (record(/** @type {Json} */ (last), /** @type {Json} */ (next)));
}

/** @typedef {Record<string, unknown>} Json */

/** @param {unknown[]} last @param {unknown[]} next */
function list(last, next) {
  const known = byIdentity(last);
  const kept = next.map((item, at) => same(known ? known.get(identity(item)) : last[at], item));
  return kept.length === last.length && kept.every((item, at) => item === last[at]) ? last : kept;
}

/** @param {Json} last @param {Json} next */
function record(last, next) {
  /** @type {Json} */
  const kept = {};
  let differs = Object.keys(last).length !== Object.keys(next).length;
  for (const name in next) {
    kept[name] = same(last[name], next[name]);
    differs ||= !(name in last) || kept[name] !== last[name];
  }
  return differs ? kept : last;
}

/** @param {unknown[]} items */
function byIdentity(items) {
  if (items.length === 0 || identity(items[0]) === undefined) return null;
  return new Map(items.map((item) => [identity(item), item]));
}

/** @param {unknown} item */
function identity(item) {
  const named = /** @type {{ id?: unknown, worker_id?: unknown, host?: unknown } | null | undefined} */ (item);
  return named?.id ?? named?.worker_id ?? named?.host;
}
