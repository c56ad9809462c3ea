// @ts-check
// Answers of the API that stay current: read once, and again when an event shows that they may have changed.
// One per path, shared by all parts of a page.

import { get, Refusal } from "./api.js";
import { useEffect, useState } from "./html.js";
import { same } from "./same.js";
import { listen } from "./stream.js";

/** @import { AnswerOf, Events, Path, TemplateOf, Topic } from "../types/requests" */

/** Minimum time between reads of one path: events come in bursts; a token may make 600 requests a minute. */
const GAP_MS = 2_000;
/** Time for which an answer that no part of a page shows is kept, for a return to the page. */
const KEPT_MS = 60_000;

/**
 * @template T
 * @typedef {object} Options
 * @property {Topic[]} [topics] whose events mean that the answer may have changed
 * @property {number} [gap] milliseconds between two reads
 * @property {Apply<T>["apply"]} [apply] the data after an event, without a request; undefined: read again
 */

/**
 * A method: it may take the events of its own topics alone.
 * @template T
 * @typedef {{ apply(data: T, event: Events[Topic], topic: Topic): T | undefined }} Apply
 */

/**
 * @template T
 * @typedef {object} Answer
 * @property {T | null} data the newest, also while `error` shows that a later read failed
 * @property {Refusal | null} error
 * @property {boolean} loading nothing was answered yet
 * @property {() => Promise<void>} reload
 */

/** @template T */
class Resource {
  /** @type {T | null} */
  data = null;
  /** @type {Refusal | null} */
  error = null;
  /** Number of changes of data or error. */
  changes = 0;
  /** @type {Set<() => void>} */
  shows = new Set();
  /** @type {(() => void)[]} */
  #ends = [];
  #timer = 0;
  #readAt = -Infinity;
  /** @type {Promise<void> | null} */
  #reading = null;
  /** Another read is wanted after the present one: in its time, or at once. @type {"" | "soon" | "now"} */
  #next = "";

  /** @param {Path<TemplateOf<"GET">>} path @param {Options<T>} options */
  constructor(path, options) {
    this.path = path;
    this.options = options;
  }

  /** @param {() => void} show */
  add(show) {
    this.shows.add(show);
    if (this.shows.size > 1) return;
    clearTimeout(this.#timer);
    const again = () => this.soon();
    this.#ends = [
      listen("again", again),
      ...(this.options.topics ?? []).map((topic) => listen(topic, (event) => this.#hear(event, topic))),
    ];
    this.soon();
  }

  /** @param {() => void} show */
  remove(show) {
    this.shows.delete(show);
    if (this.shows.size > 0) return;
    for (const end of this.#ends) end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => kept.get(this.path) === this && kept.delete(this.path), KEPT_MS);
  }

  /** @param {Events[Topic]} event @param {Topic} topic */
  #hear(event, topic) {
    const data = this.data !== null && this.options.apply ? this.options.apply(this.data, event, topic) : undefined;
    if (data === undefined) return this.soon();
    const isNews = data !== this.data;
    this.#become(data, null);
    // the read under way may have begun before the event
    if (isNews && this.#reading) this.soon();
  }

  /** Reads once the last read is old enough. */
  soon() {
    if (this.#reading) {
      this.#next ||= "soon";
      return;
    }
    clearTimeout(this.#timer);
    const wait = this.#readAt + (this.options.gap ?? GAP_MS) - performance.now();
    if (wait <= 0) void this.read();
    else this.#timer = setTimeout(() => this.read(), wait);
  }

  /** The read under way. */
  get reading() {
    return this.#reading;
  }

  /** Reads at once, and once more where a read is under way, which may have begun before a change. */
  now() {
    clearTimeout(this.#timer);
    if (this.#reading) this.#next = "now";
    else void this.read();
  }

  /** @returns {Promise<void>} when the answer is shown */
  read() {
    this.#reading ??= this.#read().finally(() => {
      const next = this.#next;
      this.#reading = null;
      this.#next = "";
      if (this.shows.size === 0) return undefined;
      if (next === "soon") this.soon();
      // whoever waits for this read waits for the next one, too
      return next === "now" ? this.read() : undefined;
    });
    return this.#reading;
  }

  async #read() {
    this.#readAt = performance.now();
    try {
      this.#become(/** @type {T} */ (await get(this.path)), null);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(0, "The answer could not be read", String(error));
      this.#become(this.data, refusal);
      if (refusal.retryAfter) setTimeout(() => this.shows.size > 0 && this.soon(), refusal.retryAfter * 1000);
    }
  }

  /** @param {T | null} data @param {Refusal | null} error */
  #become(data, error) {
    const next = same(this.data, data);
    if (next === this.data && error === this.error) return;
    this.data = next;
    this.error = error;
    this.changes += 1;
    for (const show of this.shows) show();
  }
}

/** By their paths; each has another type of data. @type {Map<string, Resource<any>>} */
const kept = new Map();

/**
 * The answer to a GET of `path`, kept current while it is shown.
 * @template {TemplateOf<"GET">} T
 * @param {Path<T> | null} path null: none
 * @param {Options<AnswerOf<T>>} [options]
 * @returns {Answer<AnswerOf<T>>}
 */
export function useResource(path, options = {}) {
  const [, draw] = useState(0);
  const resource = path === null ? null : resourceOf(path, options);
  const drawn = resource?.changes;
  useEffect(() => {
    if (!resource) return undefined;
    const show = () => draw((times) => times + 1);
    resource.add(show);
    // another part of the page has read it already: its answer may have come since this one was drawn
    if (resource.changes !== drawn) show();
    return () => resource.remove(show);
  }, [resource]);
  return {
    data: resource?.data ?? null,
    error: resource?.error ?? null,
    loading: !!resource && resource.data === null && resource.error === null,
    reload: () => resource?.read() ?? Promise.resolve(),
  };
}

/** Reads everything that is shown again at once, after a change of this page's own. */
export function reloadAll() {
  for (const resource of kept.values()) if (resource.shows.size > 0) resource.now();
}

/** Waits for the reads under way. */
export const whenRead = () => Promise.all([...kept.values()].map(({ reading }) => reading));

/**
 * @template {TemplateOf<"GET">} T
 * @param {Path<T>} path
 * @param {Options<AnswerOf<T>>} options
 * @returns {Resource<AnswerOf<T>>}
 */
function resourceOf(path, options) {
  const known = kept.get(path);
  if (known) return known;
  const resource = new Resource(path, options);
  kept.set(path, resource);
  return resource;
}
