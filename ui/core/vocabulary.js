// @ts-check
// Words of the API that forms and filters offer.

/** Priority of tasks that a person requests. */
export const BY_HAND = 20;
/** The direction of a task's priority, and of a media job's, which is the other one. */
export const TASK_PRIORITY = "higher is claimed first; a media job shows 10 minus this, where 1 is first";
export const JOB_PRIORITY = "1 runs first, 10 last; its task shows 10 minus this, where higher is first";
/** Number of empty menus in a row after which a store's state is `empty_menu`. */
export const EMPTY_MENUS = 3;
/** Families of roles. */
export const FAMILIES = ["crawl", "media"];
/** Roles of crawls. */
export const ROLES = [
  "payload_fetch",
  "product_refresh",
  "product_discovery",
  "store_discovery",
  "entry_point_discovery",
  "analytics_refresh",
];
/** Roles of media jobs. */
export const MEDIA_ROLES = [
  "scrape_account",
  "download_media",
  "paid_content_sync",
  "paid_content_creator",
  "forum_scrape",
  "youtube_monitor",
  "easynews_monitor",
  "appearances_sync",
];
export const PLATFORMS = ["dutchie", "dutchie_plus"];
/** Protocols of proxies. */
export const PROTOCOLS = ["http", "https", "socks5"];
