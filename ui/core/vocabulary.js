// @ts-check
// Words of the API that forms and filters offer.

/** Priority of tasks that a person requests. */
export const BY_HAND = 20;
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
export const PLATFORMS = ["dutchie", "dutchie_plus"];
/** Protocols of proxies. */
export const PROTOCOLS = ["http", "https", "socks5"];
