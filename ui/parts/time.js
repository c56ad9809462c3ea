// @ts-check
// Times: relative, with the exact one on hover. One timer writes all of them, so that no component is drawn
// again each second.

import { now } from "../core/clock.js";
import { age, duration, exactTime, NONE } from "../core/format.js";
import { html, useLayoutEffect, useRef } from "../core/html.js";

const TICK_MS = 1_000;

/** Formats of each kind of time; `seconds` since it. @type {Record<string, (seconds: number) => string>} */
const WRITINGS = {
  ago: (seconds) => age(Math.max(0, seconds)),
  until: (seconds) => (seconds >= 0 ? "now" : `in ${age(-seconds)}`),
  running: (seconds) => (seconds < 60 ? age(Math.max(0, seconds)) : duration(seconds)),
};

/** `8 min`: how long ago. @param {{ at: string | null | undefined, after?: string }} properties `after`: a word behind it */
export const Ago = ({ at, after = "" }) => timed("ago", at, after);

/** `in 41 min`. @param {{ at: string | null | undefined }} properties */
export const Until = ({ at }) => timed("until", at, "");

/** `4 m 12 s`: how long it has been going on. @param {{ since: string | null | undefined }} properties */
export const Running = ({ since }) => timed("running", since, "");

/** @param {string} kind @param {string | null | undefined} at @param {string} after */
const timed = (kind, at, after) => (at ? html`<${Time} kind=${kind} at=${at} after=${after} />` : html`<span class="dim">${NONE}</span>`);

/** @param {{ kind: string, at: string, after: string }} properties */
function Time({ kind, at, after }) {
  const element = useRef(/** @type {HTMLTimeElement | null} */ (null));
  useLayoutEffect(() => {
    if (element.current) write(element.current);
  }, [kind, at, after]);
  return html`<time ref=${element} datetime=${at} title=${exactTime(at)} data-kind=${kind} data-after=${after}></time>`;
}

/** @param {HTMLTimeElement} element */
function write(element) {
  const { kind = "ago", after = "" } = element.dataset;
  const text = WRITINGS[kind]((now() - Date.parse(element.dateTime)) / 1000) + (after ? ` ${after}` : "");
  if (element.textContent !== text) element.textContent = text;
}

export function startTicking() {
  setInterval(() => {
    if (document.hidden) return;
    for (const element of document.querySelectorAll("time[data-kind]")) write(/** @type {HTMLTimeElement} */ (element));
  }, TICK_MS);
}
