// @ts-check
// Crawls one store now, before what schedules made.

import { pathOf, Refusal, send } from "../core/api.js";
import { link } from "../core/base.js";
import { reloadAll } from "../core/resource.js";
import { BY_HAND } from "../core/vocabulary.js";
import { refusalText, toast } from "./toast.js";

/** @import { StoreView } from "../types/api" */

/** Why a task of this store would fetch nothing. @param {StoreView} store */
export function hindranceOf({ crawl_enabled: isEnabled, platform_dispensary_id: platformId }) {
  if (!isEnabled) return "Its crawls are disabled.";
  return platformId ? undefined : "Its id at the platform is not known yet.";
}

/** @param {StoreView} store */
export async function crawlNow({ id }) {
  try {
    const task = await send("POST", pathOf("/api/tasks"), { role: "payload_fetch", dispensary_id: id, priority: BY_HAND });
    const did = task.raised ? "waited already and goes first now" : "was created";
    toast("good", `Task ${task.id} ${did}.`, { href: link(`/admin/tasks/${task.id}`), linkText: "Show the task" });
    reloadAll();
  } catch (error) {
    const task = error instanceof Refusal && error.status === 409 ? error.taskId : null;
    if (task === null) return toast("bad", refusalText(error));
    toast("warn", `Task ${task} already waits or runs.`, { href: link(`/admin/tasks/${task}`), linkText: "Show the task" });
  }
}
