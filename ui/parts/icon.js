// @ts-check
// A symbol of `index.html`, hidden from screen readers, which read the word beside it.

import { html } from "../core/html.js";

/** @param {{ name: string }} properties */
export const Icon = ({ name }) => html`<svg class="i" aria-hidden="true"><use href=${`#i-${name}`} /></svg>`;
