// @ts-check
// Number of workers that the waiting tasks need, computed like the API's for one role (`workers_needed`).
// Pure.

/** @import { Capacity } from "../types/api" */

export const SECONDS_PER_HOUR = 3600;
/** An average of measured times is not exact: a quotient within this above a whole number is that number. */
const TOLERANCE = 1e-6;

/**
 * Workers in total that do the pending tasks within some hours; null while none of the role has completed.
 * @param {Capacity} role
 * @param {number} hours
 */
export const workersFor = (role, hours) =>
  (role.avg_duration_sec ? whole(role.pending_tasks * role.avg_duration_sec, hours) : null);

/** The same for workers that do any of these roles. @param {Capacity[]} roles @param {number} hours */
export const workersForAll = (roles, hours) =>
  whole(roles.reduce((sum, role) => sum + role.pending_tasks * (role.avg_duration_sec ?? 0), 0), hours);

/** @param {number} seconds @param {number} hours */
const whole = (seconds, hours) => Math.max(0, Math.ceil(seconds / (SECONDS_PER_HOUR * hours) - TOLERANCE));
