// @ts-check
// The one stream of events. In: the server's `/api/events`. Out: calls of a topic's listeners, and the
// stream's state as `data-live` of the page: on, paused (the tab is hidden) or lost.
//
// Not `EventSource`: it hides the heartbeats that show a stale stream, and forgets the last event when it is
// opened again.

import { address } from "./base.js";
import { now } from "./clock.js";

/** @import { Events, Topic } from "../types/requests" */

/** Maximum silence: the server sends a heartbeat every 15 seconds, so two are missing. */
const STALE_MS = 31_000;
const RETRY_MS = [1_000, 2_000, 4_000, 8_000];

/** @typedef {"on" | "paused" | "lost"} Live */

/** By their topics; each topic has another type of data. @type {Map<string, Set<(data: never) => void>>} */
const listeners = new Map();
/** @type {Set<() => void>} */
const watchers = new Set();

export const stream = {
  /** @type {Live} */
  state: "lost",
  /** Time of the last byte, by the server's clock. 0: never. */
  heardAt: 0,
  /** Time of the next try. 0: it was not lost yet. */
  retryAt: 0,
};

let lastId = "";
let failures = 0;
/** @type {AbortController | null} */
let open = null;
let timer = 0;

/**
 * @template {Topic} T
 * @param {T} topic of the server, or `again` where anything may have happened
 * @param {(data: Events[T]) => void} listener
 * @returns {() => void} ends it
 */
export function listen(topic, listener) {
  const set = listeners.get(topic) ?? new Set();
  listeners.set(topic, set.add(listener));
  return () => set.delete(listener);
}

/** @param {() => void} watcher of the stream's state @returns {() => void} ends it */
export function watchStream(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function startStream() {
  document.addEventListener("visibilitychange", () => (document.hidden ? pause() : connect()));
  if (document.hidden) pause();
  else connect();
}

/** Tries at once. */
export function connect() {
  stop();
  void read();
}

function pause() {
  stop();
  become("paused");
}

function stop() {
  clearTimeout(timer);
  open?.abort();
  open = null;
}

async function read() {
  const control = new AbortController();
  open = control;
  try {
    watch(control);
    const headers = lastId ? { "last-event-id": lastId } : undefined;
    const answer = await fetch(address("/api/events"), { headers, signal: control.signal, credentials: "same-origin" });
    if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`);
    // whatever was read before the first stream may be as old as a tab in the background, or a lost first try
    const isAgain = stream.heardAt > 0 || stream.retryAt > 0 || stream.state === "paused";
    stream.heardAt = now();
    failures = 0;
    become("on");
    // the server sends the events it kept; data without events is read again
    if (isAgain) tell("again", null);
    await readEvents(answer.body, control);
  } catch {
    // it is tried again, whatever the cause
  }
  if (open === control) retry();
}

/** @param {ReadableStream<Uint8Array>} body @param {AbortController} control */
async function readEvents(body, control) {
  const reader = body.pipeThrough(/** @type {ReadableWritablePair<string, Uint8Array>} */ (new TextDecoderStream())).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    watch(control);
    stream.heardAt = now();
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) handle(block);
  }
}

/** @param {string} block one event, or a heartbeat */
function handle(block) {
  let topic = "";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) topic = line.slice(6).trim();
    else if (line.startsWith("data:")) data += line.slice(5).trim();
    else if (line.startsWith("id:")) lastId = line.slice(3).trim();
  }
  if (topic === "reset") tell("again", null);
  else if (topic) tell(topic, JSON.parse(data));
}

/** @param {string} topic @param {unknown} data */
function tell(topic, data) {
  for (const listener of listeners.get(topic) ?? []) listener(/** @type {never} */ (data));
}

/** Waits until the next byte. @param {AbortController} control */
function watch(control) {
  clearTimeout(timer);
  timer = setTimeout(() => control.abort(), STALE_MS);
}

function retry() {
  open = null;
  const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
  failures += 1;
  stream.retryAt = now() + wait;
  become("lost");
  clearTimeout(timer);
  timer = setTimeout(connect, wait);
}

/** @param {Live} state */
function become(state) {
  stream.state = state;
  document.documentElement.dataset.live = state;
  for (const watcher of watchers) watcher();
}
