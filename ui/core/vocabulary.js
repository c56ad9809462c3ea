// @ts-check
// Words of the API that forms and filters offer.

import { fact } from "./base.js";

/** Priority of tasks that a person requests. */
export const BY_HAND = 20;
/** The direction of a task's priority, and of a media job's, which is the other one. */
export const TASK_PRIORITY = "higher is claimed first; a media job shows 10 minus this, where 1 is first";
export const JOB_PRIORITY = "1 runs first, 10 last; its task shows 10 minus this, where higher is first";
/** Number of empty menus in a row after which a store's state is `empty_menu`. */
export const EMPTY_MENUS = 3;
/** Words of the platforms that this server crawls. */
export const PLATFORMS = fact("platforms").split(" ");
/** Protocols of proxies. */
export const PROTOCOLS = ["http", "https", "socks5"];
