// @ts-check
// The mark of a worker, everywhere the same: a ring with one arc per slot, filled for tasks; a pause in the
// middle while it backs off.

import { html } from "../core/html.js";

/** Maximum slots with an arc each; more are one continuous arc. */
const MAX_ARCS = 6;
const LENGTH = 30;
const GAP = 2;

/** @param {{ tasks: number, slots: number, paused?: boolean }} properties */
export function Ring({ tasks, slots, paused = false }) {
  const isDivided = slots <= MAX_ARCS;
  const arc = isDivided ? LENGTH / Math.max(1, slots) - GAP : LENGTH;
  return html`<svg class="ring" viewBox="0 0 24 24" aria-hidden="true">
    <${Arc} dashes=${isDivided ? `${arc} ${GAP}` : undefined} />
    ${tasks > 0 && html`<${Arc} kind="busy" dashes=${isDivided ? arcs(Math.min(tasks, slots), arc) : whole(tasks, slots)} />`}
    ${paused && html`<path class="mark" d="M10.2 9.5v5m3.6-5v5" />`}
  </svg>`;
}

/** @param {{ kind?: string, dashes?: string }} properties */
const Arc = ({ kind, dashes }) =>
  html`<circle class=${kind} cx="12" cy="12" r="9.5" pathLength=${LENGTH} stroke-dasharray=${dashes} stroke-dashoffset=${-GAP / 2}
    transform="rotate(-90 12 12)" />`;

/** That many arcs, then nothing. @param {number} number @param {number} arc */
function arcs(number, arc) {
  const dashes = Array.from({ length: number }, () => `${arc} ${GAP}`);
  const rest = LENGTH - number * (arc + GAP);
  return rest > 0 ? `${dashes.slice(0, -1).concat(`${arc}`).join(" ")} ${rest + GAP}` : dashes.join(" ");
}

/** @param {number} tasks @param {number} slots */
const whole = (tasks, slots) => `${(LENGTH * Math.min(tasks, slots)) / slots} ${LENGTH}`;
