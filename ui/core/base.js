// @ts-check
// The path below which clients reach this server (`[api] base_path`), and addresses below it.

/** @import { Value } from "../types/requests" */

/**
 * A fact that the server wrote into the page.
 * @param {string} name
 */
export const fact = (name) => {
  const meta = /** @type {HTMLMetaElement | null} */ (document.querySelector(`meta[name=drover-${name}]`));
  return meta?.content ?? "";
};

/** Without a slash at its end; empty for none. */
export const basePath = fact("base-path");

/**
 * The address of a path of this server.
 * @param {string} path begins with a slash
 */
export const address = (path) => basePath + path;

/**
 * `/admin/tasks` and its parameters; those that are empty are left out.
 * @param {string} path
 * @param {Record<string, Value>} [query]
 */
export function link(path, query = {}) {
  return address(withQuery(path, query));
}

/**
 * The same, without the path of this server: for requests.
 * @param {string} path
 * @param {Record<string, Value>} query
 */
export function withQuery(path, query) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") given.set(name, String(value));
  }
  const text = given.toString();
  return text ? `${path}?${text}` : path;
}

/**
 * The named parameters of a page's address.
 * @template {string} N
 * @param {URLSearchParams} query
 * @param {readonly N[]} names
 * @returns {Record<N, string | null>}
 */
export const pick = (query, names) =>
  /** @type {Record<N, string | null>} */ (Object.fromEntries(names.map((name) => [name, query.get(name)])));
