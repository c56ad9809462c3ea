// @ts-check
// Short messages at the lower left, above the foot of a table and the bar of actions. Failures stay until they are
// closed.

import { Refusal } from "../core/api.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../core/html.js";
import { reloadAll } from "../core/resource.js";
import { Icon } from "./icon.js";

const STAYS_MS = 6_000;
const MAX_TOASTS = 4;

/** @typedef {{ id: number, kind: "good" | "warn" | "bad", text: string, href?: string, linkText?: string }} ToastText */

/** @type {ToastText[]} */
let toasts = [];
let nextId = 1;
/** @type {() => void} */
let draw = () => {};

const ICONS = { good: "done", warn: "warn", bad: "failed" };

/** @param {"good" | "warn" | "bad"} kind @param {string} text @param {{ href?: string, linkText?: string }} [more] */
export function toast(kind, text, more = {}) {
  const added = { id: nextId++, kind, text, ...more };
  toasts = [...toasts, added].slice(-MAX_TOASTS);
  draw();
  if (kind !== "bad") setTimeout(() => close(added.id), STAYS_MS);
}

/**
 * Makes a change, and reports its result.
 * @template T
 * @param {() => Promise<T>} change
 * @param {string | ((result: T) => string | ["good" | "warn", string])} done the message; a text alone is good
 * @param {{ href?: string, linkText?: string }} [more]
 * @returns {Promise<T | null>} null: it was refused, and that was reported
 */
export async function act(change, done, more) {
  try {
    const result = await change();
    const told = typeof done === "string" ? done : done(result);
    const [kind, text] = typeof told === "string" ? /** @type {const} */ (["good", told]) : told;
    toast(kind, text, more);
    reloadAll();
    return result;
  } catch (error) {
    toast("bad", refusalText(error));
    // another change came before: the next try is of what it left
    if (error instanceof Refusal && error.status === 412) reloadAll();
    return null;
  }
}

/** @param {unknown} error */
export function refusalText(error) {
  if (!(error instanceof Refusal)) return String(error);
  const fields = error.fields.map(({ field, detail }) => `${field}: ${detail}`).join("; ");
  return fields || error.detail || error.title;
}

/** @param {number} id */
function close(id) {
  toasts = toasts.filter((toast) => toast.id !== id);
  draw();
}

export function Toasts() {
  const [, again] = useState(0);
  useEffect(() => {
    draw = () => again((times) => times + 1);
    return () => {
      draw = () => {};
    };
  }, []);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => (toasts.length > 0 ? keepClear(box) : undefined), [toasts]);
  return html`<div class="toasts" role="region" aria-label="Messages" ref=${box}>
    ${toasts.map((each) => html`<${Toast} key=${each.id} ...${each} />`)}</div>`;
}

/** Keeps the messages off what they must not cover. @param {{ current: HTMLElement | null }} box */
function keepClear(box) {
  let end = () => {};
  let isOver = false;
  import("./toast-place.js").then(({ place }) => {
    if (box.current && !isOver) end = place(box.current);
  }, () => {});
  return () => {
    isOver = true;
    end();
  };
}

/** @param {ToastText} properties */
const Toast = ({ id, kind, text, href, linkText }) =>
  html`<div class="toast" role=${kind === "bad" ? "alert" : "status"}>
    <span class=${kind}><${Icon} name=${ICONS[kind]} /></span><span>${text}</span>
    ${href && html`<a class="link" href=${href}>${linkText ?? "Show"}</a>`}
    <button class="icon-btn" type="button" aria-label="Close this message" onClick=${() => close(id)}><${Icon} name="close" /></button>
  </div>`;
