// @ts-check
// The head of a page, its panels, and their states without data: bones while it loads, an empty list, a
// failure.

import { html, useEffect, useState } from "../core/html.js";
import { Icon } from "./icon.js";

/** @import { Children } from "../core/html.js" */
/** @import { Answer } from "../core/resource.js" */
/** @import { Refusal } from "../core/api.js" */

/** Time until bones are shown. */
const BONES_MS = 300;

/**
 * @param {object} properties
 * @param {string} properties.title
 * @param {Children} [properties.scope]
 * @param {Children} [properties.crumb] links to the pages above
 * @param {Children} [properties.mark] beside the title
 * @param {Children} [properties.children] its actions
 */
export function PageHead({ title, scope, crumb, mark, children }) {
  return html`<header class="page-head">
    ${crumb && html`<p class="crumb">${crumb}</p>`}
    <h1><bdi>${title}</bdi></h1>${mark}
    ${scope && html`<p class="scope">${scope}</p>`}
    ${children && html`<div class="row actions">${children}</div>`}
  </header>`;
}

/**
 * @param {object} properties
 * @param {string} properties.title
 * @param {Children} [properties.scope]
 * @param {Children} [properties.more] at the right end
 * @param {string} [properties.id] of the heading
 * @param {string} [properties.kind] more classes
 * @param {Children} [properties.children]
 */
export function Panel({ title, scope, more, id, kind = "", children }) {
  const heading = id ?? `h-${title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  return html`<section class=${`panel ${kind}`} aria-labelledby=${heading}>
    <div class="panel-head"><h2 id=${heading}>${title}</h2>${scope && html`<span class="scope">${scope}</span>`}${more}</div>
    ${children}
  </section>`;
}

/** @param {{ icon?: string, title: string, children?: Children }} properties */
export const Empty = ({ icon = "done", title, children }) =>
  html`<div class="empty"><${Icon} name=${icon} /><p class="lead">${title}</p>${children}</div>`;

/** @param {{ error: Refusal, onRetry?: () => unknown, what?: string }} properties */
export const Failure = ({ error, onRetry, what = "This" }) =>
  html`<div class="empty" role="alert">
    <${Icon} name="warn" />
    <p class="lead">${error.status === 403 ? `${what} needs another access role` : `${what} could not be read`}</p>
    <p>${error.status ? `${error.status}: ` : `${error.title}. `}${error.detail || error.title}</p>
    ${error.requestId && html`<p class="scope">request ${error.requestId}, also in the log</p>`}
    ${onRetry && html`<button class="btn" type="button" onClick=${onRetry}><${Icon} name="retrying" />Try again</button>`}
  </div>`;

/** Placeholders for rows. @param {{ rows?: number }} properties */
export function Bones({ rows = 4 }) {
  const [isLate, become] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => become(true), BONES_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate) return html`<div class="panel-body bones" aria-busy="true"></div>`;
  return html`<div class="panel-body bones" aria-busy="true">
    <span class="sr">loading</span>
    ${Array.from({ length: rows }, (_, at) => html`<span class="bone" style=${{ "--w": 90 - ((at * 17) % 40) }}></span>`)}
  </div>`;
}

/**
 * Shows the data, or the reason why it is missing.
 * @template T
 * @param {{ of: Answer<T>, what?: string, rows?: number, children: (data: T) => Children }} properties
 */
export function Loaded({ of, what, rows, children }) {
  if (of.data !== null) return children(of.data);
  if (of.error) return html`<${Failure} error=${of.error} onRetry=${of.reload} what=${what} />`;
  return html`<${Bones} rows=${rows} />`;
}
