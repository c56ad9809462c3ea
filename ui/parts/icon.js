// @ts-check
// A symbol of `index.html`. It is hidden from screen readers: the word beside it speaks.

import { html } from "../core/html.js";

/** @param {{ name: string }} properties */
export const Icon = ({ name }) => html`<svg class="i" aria-hidden="true"><use href=${`#i-${name}`} /></svg>`;
