// @ts-check
// The kinds of records of media jobs: the columns and fields of each, which is all that distinguishes one from
// another. Checks of values are the server's.

import { Refusal } from "../../core/api.js";
import { link } from "../../core/base.js";
import { bytes, duration, NONE, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { rolesOf } from "../../core/roles.js";
import { DIGESTS, digestText } from "../../parts/record-form.js";
import { Ago } from "../../parts/time.js";

/** @import { Children } from "../../core/html.js" */
/** @import { RecordField as Field } from "../../parts/record-form.js" */
/** @import { Account, Channel, Credential, Endpoint, Forum, Person, Rule, Search, Thread } from "../../types/api" */

/** Names of the records that a kind refers to, by their ids. @typedef {Map<number, string>} Names */
/** @typedef {"accounts" | "channels" | "searches" | "people" | "forums" | "threads" | "credentials" | "endpoints" | "rules"} KindName */

/**
 * @template R
 * @typedef {object} Column
 * @property {string} word
 * @property {(record: R, names: Names) => Children} of
 * @property {(record: R) => string | number | null | undefined} [key] by which it is sorted
 * @property {boolean} [isNumber]
 * @property {boolean} [isLong] it has a line of its own where rows are folded
 */

/** @typedef {Field & { refers?: KindName }} RecordField its value may be the id of a record of this kind */

/**
 * @template R
 * @typedef {object} Kind
 * @property {string} title
 * @property {string} noun
 * @property {string} about
 * @property {string} [stays] a sentence on what a removal takes along, or leaves
 * @property {string} head of the column of names
 * @property {(record: R, names: Names) => string} name
 * @property {(record: R) => string} [under] a second line below the name
 * @property {(record: R) => string | null | undefined} [result] how its last use by a job ended
 * @property {boolean} [isNote] the result need not be a failure
 * @property {Column<R>[]} columns
 * @property {RecordField[]} fields
 */

/** @param {Names} names @param {number | null | undefined} id */
const named = (names, id) => (typeof id === "number" ? (names.get(id) ?? `#${id}`) : null);
/** @param {string | null | undefined} text */
const orNone = (text) => (text ? html`<bdi>${text}</bdi>` : html`<span class="dim">${NONE}</span>`);
/** @param {string} text a list with commas or spaces between */
const list = (text) => text.split(/[\s,]+/).filter(Boolean);
/** @param {string | null | undefined} at */
const millis = (at) => (at ? Date.parse(at) : null);
/**
 * A column of ages.
 * @template R
 * @param {string} word
 * @param {(record: R) => string | null | undefined} at
 * @returns {Column<R>}
 */
const time = (word, at) => ({
  word,
  of: (record) => html`<${Ago} at=${at(record)} after="ago" />`,
  key: (record) => millis(at(record)),
  isNumber: true,
});

/** @param {string} text @returns {unknown} */
function json(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, "No JSON", "", { fields: [{ field: "selectors", detail: `is not JSON: ${/** @type {Error} */ (error).message}` }] });
  }
}

/** @type {RecordField} */
const ENABLED = { name: "enabled", label: "Enabled", type: "checkbox", value: true };
/** @type {RecordField} */
const CREDENTIAL = { name: "credential_id", label: "Credential", refers: "credentials", empty: null };
/** @param {string} of @returns {RecordField} */
const download = (of) => ({ name: "download", label: `Download ${of}`, type: "checkbox" });

/** @type {Column<{ download: boolean }>} */
const DOWNLOADS = { word: "Downloads", of: (record) => (record.download ? "yes" : html`<span class="dim">no</span>`), key: (record) => Number(record.download) };
/** @type {Column<{ credential_id?: number | null }>} */
const HAS_CREDENTIAL = { word: "Credential", of: (record, names) => orNone(named(names, record.credential_id)) };

/** @type {Kind<Account>} */
const accounts = {
  title: "Accounts",
  noun: "account",
  about: "Jobs of the types scrape_account and paid_content_creator download their media.",
  stays: "Its items are kept.",
  head: "Account",
  name: ({ username }) => username,
  under: ({ platform, kind }) => `${platform}, ${kind}`,
  result: (record) => record.last_error,
  columns: [
    HAS_CREDENTIAL,
    {
      word: "Every",
      of: ({ interval_hours: hours }) => (hours ? duration(hours * 3600) : html`<span class="dim">by request</span>`),
      key: ({ interval_hours: hours }) => hours,
    },
    time("Last scraped", ({ last_scraped_at: at }) => at),
    { word: "Items", of: ({ id }) => html`<a href=${link("/admin/items", { account_id: id })}>its items</a>` },
  ],
  fields: [
    { name: "platform", label: "Platform", required: true, isFixed: true, placeholder: "mastodon", help: "as gallery-dl calls the site, or its family" },
    { name: "username", label: "User name", required: true, isFixed: true },
    { name: "kind", label: "Kind", type: "select", options: ["public", "creator"], isFixed: true },
    { name: "url", label: "Address", empty: null, help: "empty: derived from the address of its platform" },
    { ...CREDENTIAL, help: "of the same platform" },
    { name: "interval_hours", label: "Interval in hours", type: "number", empty: null, help: "empty: scraped only on request" },
    ENABLED,
  ],
};

/** @type {Kind<Channel>} */
const channels = {
  title: "Channels",
  noun: "channel",
  about: "Jobs of the type youtube_monitor look for their new videos.",
  stays: "Its items are kept.",
  head: "Channel",
  name: (record) => record.channel_id,
  result: (record) => record.last_error,
  columns: [
    DOWNLOADS,
    time("Last polled", ({ last_polled_at: at }) => at),
  ],
  fields: [
    { name: "channel_id", label: "Channel id", required: true, isFixed: true, placeholder: "UC…", help: "the end of youtube.com/channel/UC…" },
    { ...download("new videos"), help: "the videos of its first poll are not new" },
    ENABLED,
  ],
};

/** @type {Kind<Search>} */
const searches = {
  title: "Searches",
  noun: "search",
  about: "Jobs of the type easynews_monitor look for their new files.",
  stays: "Its items are kept.",
  head: "Search",
  name: (record) => record.query,
  result: (record) => record.last_error,
  columns: [
    { word: "Extensions", of: ({ extensions }) => extensions.join(", ") || html`<span class="dim">any</span>` },
    { word: "At least", of: ({ min_bytes: size }) => (size > 0 ? bytes(size) : html`<span class="dim">any size</span>`), key: (record) => record.min_bytes, isNumber: true },
    DOWNLOADS,
    time("Last run", ({ last_run_at: at }) => at),
  ],
  fields: [
    { name: "query", label: "Search for", required: true, isFixed: true },
    { name: "extensions", label: "Extensions", empty: [], read: list, write: (given) => given.join(", "), placeholder: "mkv, mp4", help: "empty: any" },
    { name: "min_bytes", label: "Minimum bytes", type: "number", empty: 0, help: "smaller files are left out" },
    { ...download("new files"), help: "the files of its first run are not new" },
    ENABLED,
  ],
};

/** @type {Kind<Person>} */
const people = {
  title: "People",
  noun: "person",
  about: "Jobs of the type appearances_sync read their credits at TMDb.",
  stays: "The appearances are removed, too.",
  head: "Person",
  name: ({ name }) => name,
  result: (record) => record.last_error,
  columns: [{ word: "Number at TMDb", of: (record) => html`<span class="mono">${record.tmdb_id}</span>`, key: (record) => record.tmdb_id }],
  fields: [
    { name: "tmdb_id", label: "Number at TMDb", type: "number", required: true, isFixed: true, help: "from the person's address there" },
    { name: "name", label: "Name", required: true },
    ENABLED,
  ],
};

/** @type {Kind<Forum>} */
const forums = {
  title: "Forums",
  noun: "forum",
  about: "Jobs of the type forum_scrape read their watched threads.",
  stays: "Its items are kept. A forum with watched threads cannot be removed.",
  head: "Forum",
  name: ({ name }) => name,
  under: ({ kind }) => kind,
  columns: [
    { word: "Address", of: (record) => html`<bdi class="mono wrap">${record.base_url}</bdi>`, isLong: true },
    HAS_CREDENTIAL,
    { word: "Selectors", of: ({ selectors }) => Object.keys(selectors).join(", ") || html`<span class="dim">as its kind</span>` },
  ],
  fields: [
    { name: "name", label: "Name", required: true, isFixed: true, help: "its items have it as their source" },
    { name: "kind", label: "Kind", type: "select", options: ["discourse", "xenforo", "phpbb"], isFixed: true },
    { name: "base_url", label: "Address", required: true, placeholder: "https://forum.example/board" },
    { ...CREDENTIAL, help: "a credential whose platform is the forum's name; empty: guests may read it" },
    {
      name: "selectors",
      label: "Selectors",
      type: "textarea",
      empty: {},
      read: json,
      write: (given) => (Object.keys(given).length > 0 ? JSON.stringify(given, null, 2) : ""),
      placeholder: '{ "post": "article.post" }',
      help: "JSON: only the selectors that differ from its kind's: post, post_id, author, time, date_format, body, next, media",
    },
  ],
};

/** @type {Kind<Thread>} */
const threads = {
  title: "Threads",
  noun: "thread",
  about: "Jobs of the type forum_scrape read their new posts.",
  stays: "Its posts are removed, its items are kept.",
  head: "Thread",
  name: (record) => record.external_id,
  result: (record) => record.last_error,
  columns: [
    { word: "Forum", of: (record, names) => orNone(named(names, record.forum_id)), key: (record) => record.forum_id },
    DOWNLOADS,
    { word: "Newest post", of: (record) => orNone(record.last_post_id), isNumber: true },
  ],
  fields: [
    { name: "forum_id", label: "Forum", refers: "forums", required: true, isFixed: true },
    { name: "external_id", label: "Number", required: true, isFixed: true, placeholder: "123", help: "in the thread's address: 123 of /threads/title.123/" },
    { ...download("media of its posts") },
    ENABLED,
  ],
};

/** @type {Kind<Credential>} */
const credentials = {
  title: "Credentials",
  noun: "credential",
  about: "Secrets are kept encrypted and never shown. Accounts, forums and endpoints use them.",
  stays: "A credential that an account, a forum or an endpoint uses cannot be removed.",
  head: "Credential",
  name: ({ name }) => name,
  result: (record) => record.last_result,
  isNote: true,
  columns: [
    { word: "Platform", of: ({ platform }) => orNone(platform), key: ({ platform }) => platform },
    { word: "Kind", of: ({ kind }) => kind, key: ({ kind }) => kind },
    { word: "User name", of: ({ username }) => orNone(username) },
    time("Changed", ({ updated_at: at }) => at),
  ],
  fields: [
    { name: "name", label: "Name", required: true, isFixed: true },
    { name: "platform", label: "Platform", required: true, isFixed: true, placeholder: "easynews", help: "easynews, tmdb, notifications, a forum's name, or a platform of accounts" },
    { name: "kind", label: "Kind", type: "select", options: ["password", "cookies", "token", "api_key"], isFixed: true },
    { name: "username", label: "User name" },
    { name: "secret", label: "Secret", type: "password", help: "a password, token or key; kept encrypted, and never shown" },
    { name: "file", label: "File of cookies", type: "file", into: "secret", read: (/** @type {File} */ file) => file.text(), help: "instead of the secret" },
  ],
};

/** @type {Kind<Endpoint>} */
const endpoints = {
  title: "Endpoints",
  noun: "endpoint",
  about: "Notifications about ended jobs and the crawl are sent to them, as the rules say.",
  stays: "Its rules and notifications are removed, too.",
  head: "Endpoint",
  name: ({ name }) => name,
  under: ({ kind }) => kind,
  result: (record) => record.disabled_reason,
  columns: [
    { word: "Target", of: ({ target }) => html`<bdi class="mono wrap">${target}</bdi>`, isLong: true },
    HAS_CREDENTIAL,
    { word: "Sent", of: ({ id, name }) => html`<a class="link" href=${link("/admin/notifications", { endpoint: id })}>notifications<span class="sr"> of ${name}</span></a>` },
  ],
  fields: [
    { name: "name", label: "Name", required: true, isFixed: true },
    { name: "kind", label: "Kind", type: "select", options: ["webhook", "ntfy", "email"], isFixed: true },
    {
      name: "target",
      label: "Target",
      required: true,
      placeholder: "https://example.org/hooks/drover",
      help: "an address, or smtps://mail.example.org/?from=a@example.org&to=b@example.org",
    },
    { ...CREDENTIAL, help: "of the platform notifications; a webhook needs one" },
    { ...CREDENTIAL, name: "previous_credential_id", label: "Previous credential", help: "a webhook is signed with it, too" },
    ENABLED,
  ],
};

const EVENTS = /** @type {[string, string][]} */ ([
  ["job.failed", "jobs that failed"],
  ["job.completed", "jobs that completed"],
  ["job.completed,job.failed", "jobs that completed or failed"],
  ["crawl.failed,pause.long,proxies.unusable,quality.found,store.blind", "every problem of the crawl"],
  ["crawl.failed", "crawls that failed"],
  ["store.blind", "stores that are no longer crawled"],
  ["quality.found", "findings about the data of stores"],
  ["proxies.unusable", "no proxy is usable"],
  ["pause.long", "pauses of more than four hours"],
]);
const jobTypes = () => /** @type {[string, string][]} */ ([["", "every type"], ...rolesOf("media").map((role) => [role, role])]);
/** @param {string[]} events */
const eventsText = (events) => [...events].sort().join(",");
/** @param {string | null | undefined} text */
const orEvery = (text) => (text ? html`<bdi>${text}</bdi>` : html`<span class="dim">every</span>`);

/** @type {Kind<Rule>} */
const rules = {
  title: "Rules",
  noun: "rule",
  about: "A rule decides which ends of jobs and which events of the crawl are sent to an endpoint.",
  stays: "Notifications already made are kept.",
  head: "Rule",
  name: ({ id }) => String(id),
  columns: [
    { word: "Events", of: ({ events }) => EVENTS.find(([key]) => key === eventsText(events))?.[1] ?? events.join(", ") },
    { word: "Endpoint", of: (record, names) => orNone(named(names, record.endpoint_id)), key: (record) => record.endpoint_id },
    { word: "Type", of: (record) => orEvery(record.job_type), key: (record) => record.job_type },
    { word: "Platform", of: ({ platform }) => orEvery(platform) },
    { word: "Account", of: ({ account }) => orEvery(account) },
    { word: "Sent", of: ({ digest }) => digestText(digest) },
  ],
  fields: [
    { name: "endpoint_id", label: "Endpoint", refers: "endpoints", required: true, isFixed: true },
    { name: "events", label: "Events", type: "select", options: EVENTS, read: list, write: eventsText },
    { name: "digest", label: "Sent", type: "select", options: DIGESTS, help: "events of the crawl; each end of a job is sent at once" },
    { name: "job_type", label: "Type of jobs", type: "select", get options() { return jobTypes(); }, empty: null },
    { name: "platform", label: "Platform", empty: null, help: "empty: all types" },
    { name: "account", label: "Account of jobs", empty: null, help: "empty: all types" },
  ],
};

/** In the order of the page. @type {Record<KindName, Kind<any>>} */
export const KINDS = { accounts, channels, searches, people, forums, threads, credentials, endpoints, rules };
export const KIND_NAMES = /** @type {KindName[]} */ (Object.keys(KINDS));

/** The kind that a kind's fields refer to. @param {Kind<any>} kind */
export const referred = (kind) => kind.fields.find(({ refers }) => refers)?.refers ?? null;

/** `3 channels`. @param {Kind<any>} kind @param {number} number */
export const counted = ({ title, noun }, number) => plural(number, noun, title.toLowerCase());
