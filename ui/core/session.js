// @ts-check
// The reader and their rights. The server checks every right; a page only hides actions that would be
// refused.

import { get, pathOf, send, setCsrfToken } from "./api.js";
import { link } from "./base.js";

/** @import { AccessRole, Login } from "../types/api" */

/** @type {AccessRole[]} */
const RANKS = ["consumer", "viewer", "operator", "admin"];

/** @type {Login | null} */
let session = null;

/** @throws {import("./api.js").Refusal} 401 where a token is needed */
export async function openSession() {
  const login = await get(pathOf("/api/session"));
  session = login;
  setCsrfToken(login.csrf_token);
  return login;
}

export const who = () => session;

/** The roles of tasks, in the order of the server. */
export const roles = () => session?.roles ?? [];

/** @param {"viewer" | "operator" | "admin"} role */
export const may = (role) => session !== null && RANKS.indexOf(session.role) >= RANKS.indexOf(role);

/** Address of the login, which leads back here. */
export function loginAddress() {
  const here = location.pathname + location.search;
  return link("/login", { next: here });
}

export async function logOut() {
  await send("DELETE", pathOf("/api/session"));
  location.assign(link("/login"));
}
