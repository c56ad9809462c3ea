// @ts-check
// The roles of tasks, as the server declares them.

import { roles } from "./session.js";

/** @import { RoleView } from "../types/api" */

/** The names of a family's roles. @param {RoleView["family"]} family @returns {string[]} */
export const rolesOf = (family) => roles().filter((each) => each.family === family).map(({ role }) => role);

/** @param {string} name */
export const roleOf = (name) => roles().find(({ role }) => role === name);
