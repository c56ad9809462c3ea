// @ts-check
// Requests to the API. In: a path and a body. Out: the answer's JSON, or a `Refusal` with a text for the
// reader.

import { address, withQuery } from "./base.js";
import { noteServerTime } from "./clock.js";

/** @import { AnswerOf, BodyOf, Given, Method, Path, Template, TemplateOf, Value } from "../types/requests" */
/** @import { Problem } from "../types/api" */

const DEADLINE_MS = 35_000;

/** A failed request: the server's problem document, or the reason why there was no answer. */
export class Refusal extends Error {
  /**
   * @param {number} status 0 where the server did not answer
   * @param {string} title
   * @param {string} detail
   * @param {{ requestId?: string, retryAfter?: number, taskId?: number, fields?: { field: string, detail: string }[] }} [more]
   */
  constructor(status, title, detail, more = {}) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.requestId = more.requestId ?? "";
    /** Seconds. */
    this.retryAfter = more.retryAfter ?? 0;
    /** The task that prevents it. */
    this.taskId = more.taskId ?? null;
    this.fields = more.fields ?? [];
  }
}

let csrfToken = "";
/** @type {() => void} */
let onUnauthenticated = () => {};

/** @param {string | null | undefined} token of the login */
export function setCsrfToken(token) {
  csrfToken = token ?? "";
}

/** @param {() => void} listener called when the server does not know the caller (any more) */
export function setUnauthenticatedListener(listener) {
  onUnauthenticated = listener;
}

/**
 * The path of an endpoint for a request. It holds some of the parameters; the others follow as a query,
 * without the empty ones.
 * @type {<T extends Template>(template: T, ...given: Given<T>) => Path<T>}
 */
export const pathOf = (template, ...[given]) => {
  const rest = /** @type {Record<string, Value>} */ ({ ...given });
  const path = template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  return /** @type {Path<typeof template>} */ (withQuery(path, rest));
};

/**
 * @template {TemplateOf<"GET">} T
 * @param {Path<T>} path
 * @param {{ signal?: AbortSignal }} [options]
 * @returns {Promise<AnswerOf<T>>}
 */
export function get(path, options = {}) {
  return request("GET", path, { signal: options.signal });
}

/**
 * @template {Exclude<Method, "GET">} M
 * @template {TemplateOf<M>} T
 * @param {M} method
 * @param {Path<T>} path
 * @param {BodyOf<T, M>} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<AnswerOf<T, M>>}
 */
export function send(method, path, body, headers = {}) {
  return request(method, path, { body, headers });
}

/**
 * @param {Method} method
 * @param {string} path
 * @param {{ body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} options
 */
async function request(method, path, { body, headers = {}, signal }) {
  const all = new Headers(headers);
  if (body !== undefined) all.set("content-type", "application/json");
  if (method !== "GET" && csrfToken) all.set("x-csrf-token", csrfToken);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  /** @type {Response} */
  let answer;
  /** @type {string} */
  let text;
  try {
    answer = await fetch(address(path), {
      method,
      headers: all,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      credentials: "same-origin",
    });
    noteServerTime(answer.headers.get("date"));
    text = await answer.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, "The server does not answer", "It may be starting, stopped, or out of reach of this machine.");
  }
  if (answer.ok) return text ? JSON.parse(text) : null;
  if (answer.status === 401) onUnauthenticated();
  throw refusal(answer, text);
}

/** @param {Response} answer @param {string} text */
function refusal(answer, text) {
  const problem = parsed(text);
  return new Refusal(answer.status, problem.title ?? answer.statusText, problem.detail ?? "", {
    requestId: problem.request_id ?? answer.headers.get("x-request-id") ?? "",
    retryAfter: Number(answer.headers.get("retry-after")) || 0,
    taskId: problem.task_id ?? undefined,
    fields: problem.errors,
  });
}

/** @param {string} text @returns {Partial<Problem>} */
function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    // a server in front of this one answers in its own words
    return {};
  }
}
