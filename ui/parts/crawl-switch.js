// @ts-check
// The crawls of a store: a mark of their state, and the button that switches them.

import { pathOf, send } from "../core/api.js";
import { html } from "../core/html.js";
import { may } from "../core/session.js";
import { confirm } from "./dialog.js";
import { StoreState } from "./status.js";
import { act } from "./toast.js";

/** @import { StoreView } from "../types/api" */

/** @param {{ of: StoreView }} properties */
export const CrawlState = ({ of }) => html`<${StoreState} of=${of.crawl_enabled ? of.crawl_status : "disabled"} />`;

/** @param {{ of: StoreView, kind?: string }} properties */
export function CrawlSwitch({ of, kind = "" }) {
  if (!may("operator")) return null;
  const word = of.crawl_enabled ? "Disable" : "Enable";
  return html`<button class=${`btn ${kind}`} type="button" aria-label=${`${word} the crawls of ${of.name}`}
    onClick=${() => switchCrawls(of)}>${word}</button>`;
}

/** Asks first. @param {StoreView} store */
export async function switchCrawls({ id, name, crawl_enabled: isEnabled }) {
  const word = isEnabled ? "Disable" : "Enable";
  const body = isEnabled
    ? "Schedules create no more tasks for it until it is enabled again. Its products stay as they are."
    : "The next run of its schedule creates a task for it.";
  const yes = await confirm({
    title: `${word} the crawls of 1 store?`,
    body: html`<p><bdi>${name}</bdi></p><p>${body}</p>`,
    action: `${word} 1 store`,
    danger: isEnabled,
  });
  if (!yes) return;
  const turn = () => send("PUT", pathOf("/api/stores/{id}", { id }), { crawl_enabled: !isEnabled });
  await act(turn, `The crawls of ${name} are ${isEnabled ? "disabled" : "enabled"}.`);
}
