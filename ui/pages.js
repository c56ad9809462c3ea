// @ts-check
// All pages behind the login, in the order of the navigation. The array is JSON: tests and screenshots read
// it too.
//
// `name` is the module in pages/, `:id` in a path a number. `section` and `title` are for the navigation;
// `key` opens the page after `g`; `role` is the required one. `query` shows the page at its best, and `list`
// of the API holds an example of `:id`.

/**
 * @typedef {{ name: string, path: string, section?: string, title?: string, key?: string, role?: "viewer" | "operator" | "admin",
 *             query?: string, list?: string }} Page
 */

/** @type {Page[]} */
export const PAGES = [
  { "name": "overview", "path": "/admin", "section": "Work", "title": "Overview", "key": "o" },
  { "name": "job-queue", "path": "/admin/job-queue", "section": "Work", "title": "Job queue", "key": "q" },
  { "name": "tasks", "path": "/admin/tasks", "section": "Work", "title": "Tasks", "key": "t" },
  { "name": "task", "path": "/admin/tasks/:id", "list": "/api/tasks?limit=1" },
  { "name": "schedules", "path": "/admin/schedules", "section": "Work", "title": "Schedules", "key": "c" },
  { "name": "jobs", "path": "/admin/jobs", "section": "Work", "title": "Jobs", "key": "j" },
  { "name": "workers", "path": "/admin/workers", "section": "Fleet", "title": "Workers", "key": "w" },
  { "name": "capacity", "path": "/admin/capacity", "section": "Fleet", "title": "Capacity", "key": "y" },
  { "name": "proxies", "path": "/admin/proxies", "section": "Fleet", "title": "Proxies", "key": "x" },
  { "name": "hosts", "path": "/admin/hosts", "section": "Fleet", "title": "Hosts", "key": "h" },
  { "name": "stores", "path": "/admin/stores", "section": "Data", "title": "Stores", "key": "s" },
  { "name": "store", "path": "/admin/stores/:id", "list": "/api/stores?limit=1" },
  { "name": "products", "path": "/admin/products", "section": "Data", "title": "Products", "key": "p", "query": "?q=blue" },
  { "name": "product", "path": "/admin/products/:id", "list": "/api/products/search?q=blue&limit=1" },
  { "name": "payloads", "path": "/admin/payloads", "section": "Data", "title": "Payloads", "key": "l" },
  { "name": "payload-diff", "path": "/admin/payloads/diff", "query": "?store=:id", "list": "/api/stores?limit=1" },
  { "name": "media", "path": "/admin/media", "section": "Data", "title": "Media", "key": "m" },
  { "name": "items", "path": "/admin/items", "section": "Data", "title": "Items", "key": "i" },
  { "name": "notifications", "path": "/admin/notifications", "section": "Data", "title": "Notifications", "key": "n" },
  { "name": "audit", "path": "/admin/audit", "section": "System", "title": "Audit", "key": "a" },
  { "name": "settings", "path": "/admin/settings", "section": "System", "title": "Settings", "key": "e", "role": "admin" }
];
