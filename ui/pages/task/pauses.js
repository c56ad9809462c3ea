// @ts-check
// The pauses that hold a task up.

import { roleOf } from "../../core/roles.js";

/** @import { Pause, TaskView } from "../../types/api" */

/**
 * Pauses that a pending task waits for.
 * @param {Pause[] | undefined} pauses
 * @param {Pick<TaskView, "status" | "role" | "dispensary_id">} task
 */
export const pausesOf = (pauses = [], { status, role, dispensary_id }) => {
  const family = roleOf(role)?.family ?? null;
  /** @type {Partial<Record<Pause["scope"], string | null>>} */
  const stops = { all: null, family, role, store: String(dispensary_id ?? "") };
  return status === "pending" ? pauses.filter(({ scope, of = null }) => stops[scope] === of) : [];
};
