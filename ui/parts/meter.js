// @ts-check
// A bar and its number.

import { html } from "../core/html.js";

const LEVELS = [
  { below: 50, word: "low" },
  { below: 75, word: "raised" },
  { below: 90, word: "high" },
  { below: Infinity, word: "critical" },
];

/** Level of memory or CPU in percent: 1 to 4, and its word. @param {number} percent */
export function level(percent) {
  const at = LEVELS.findIndex(({ below }) => percent < below);
  return { level: at + 1, word: LEVELS[at].word };
}

/** @param {{ of: string, percent: number }} properties `of`: memory or CPU */
export function Meter({ of, percent }) {
  const { level: number, word } = level(percent);
  const shown = Math.round(percent);
  return html`<span class=${`meter lv${number}`} style=${{ "--v": Math.min(100, shown) }} title=${`${of}, ${word}`}>
    <i></i><b>${shown} %</b>
  </span>`;
}

/** Progress of a task, with its words. @param {{ percent: number | null, text: string | null }} properties */
export const Progress = ({ percent, text }) =>
  percent === null && !text
    ? html`<span class="dim">begun</span>`
    : html`<span class="meter long" style=${{ "--v": percent ?? 0 }}>
        ${percent !== null && html`<i></i>`}<span class="soft cut" title=${text ?? ""}>${text ?? `${percent} %`}</span>
      </span>`;
