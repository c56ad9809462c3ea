// @ts-check
// All pages behind the login, in the order of the navigation. The array is JSON: tests and screenshots read
// it too.
//
// `name` is the module in pages/; `path` is /admin and the name unless it is given, and `:id` in it a number.
// `section` and `title` are for the navigation; `key`, a letter of its own, opens the page after `g`; `role` is the
// required one. `query` shows the page at its best, and `list` of the API holds an example of `:id`.

/**
 * @typedef {{ name: string, path: string, section?: string, title?: string, key?: string, role?: "viewer" | "operator" | "admin",
 *             query?: string, list?: string }} Page
 */

/** @type {(Omit<Page, "path"> & { path?: string })[]} */
const ENTRIES = [
  { "name": "overview", "path": "/admin", "section": "Work", "title": "Overview", "key": "o" },
  { "name": "job-queue", "section": "Work", "title": "Job queue", "key": "q" },
  { "name": "tasks", "section": "Work", "title": "Tasks", "key": "t" },
  { "name": "task", "path": "/admin/tasks/:id", "list": "/api/tasks?limit=1" },
  { "name": "schedules", "section": "Work", "title": "Schedules", "key": "c" },
  { "name": "jobs", "section": "Work", "title": "Jobs", "key": "j" },
  { "name": "workers", "section": "Fleet", "title": "Workers", "key": "w" },
  { "name": "capacity", "section": "Fleet", "title": "Capacity", "key": "y" },
  { "name": "proxies", "section": "Fleet", "title": "Proxies", "key": "x" },
  { "name": "hosts", "section": "Fleet", "title": "Hosts", "key": "h" },
  { "name": "stores", "section": "Data", "title": "Stores", "key": "s" },
  { "name": "store", "path": "/admin/stores/:id", "list": "/api/stores?limit=1" },
  { "name": "retailers", "section": "Data", "title": "Retailers", "key": "u" },
  { "name": "products", "section": "Data", "title": "Products", "key": "p", "query": "?q=blue" },
  { "name": "product", "path": "/admin/products/:id", "list": "/api/products/search?q=blue&limit=1" },
  { "name": "prices", "section": "Data", "title": "Prices", "key": "r" },
  { "name": "changes", "section": "Data", "title": "Changes", "key": "d" },
  { "name": "payloads", "section": "Data", "title": "Payloads", "key": "l" },
  { "name": "payload-diff", "path": "/admin/payloads/diff", "query": "?store=:id", "list": "/api/stores?limit=1" },
  { "name": "media", "section": "Data", "title": "Media", "key": "m" },
  { "name": "items", "section": "Data", "title": "Items", "key": "i" },
  { "name": "notifications", "section": "Data", "title": "Notifications", "key": "n" },
  { "name": "audit", "section": "System", "title": "Audit", "key": "a" },
  { "name": "settings", "section": "System", "title": "Settings", "key": "e", "role": "admin" }
];

/** @type {Page[]} */
export const PAGES = ENTRIES.map((page) => ({ path: `/admin/${page.name}`, ...page }));
