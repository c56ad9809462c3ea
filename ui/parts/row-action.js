// @ts-check
// A small button in a row, whose name includes the row for screen readers.

import { html } from "../core/html.js";

/** @param {{ action: string, of: string, isMain?: boolean, hotkey?: string, onClick: () => unknown }} properties */
export const RowAction = ({ action, of, isMain = false, hotkey, onClick }) =>
  html`<button class=${`btn small ${isMain ? "" : "quiet"}`} type="button" data-key=${hotkey} onClick=${onClick}>
    ${action}<span class="sr"> ${of}</span></button>`;
