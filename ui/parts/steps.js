// @ts-check
// A line of steps in a chart, which the overview has none of.

import { html } from "../core/html.js";
import { HEIGHT, WIDTH, y } from "./chart.js";

/**
 * Steps: each value lasts until the next. `at` is a share of the width, 0 to 1; null breaks the line.
 * @param {{ points: { at: number, value: number | null }[], top: number, kind: string, area?: boolean }} properties
 */
export function Steps({ points, top, kind, area = false }) {
  let d = "";
  let isDrawing = false;
  for (const { at, value } of points) {
    const x = (at * WIDTH).toFixed(1);
    if (isDrawing) d += `H${x}`;
    if (value !== null) d += isDrawing ? `V${y(value, top).toFixed(1)}` : `M${x} ${y(value, top).toFixed(1)}`;
    isDrawing = value !== null;
  }
  if (isDrawing) d += `H${WIDTH}`;
  const filled = area && d
    ? d.replace(/(?!^)M/g, `V${HEIGHT}M`).replace(/M([\d.]+) ([\d.]+)/g, (_, x, at) => `M${x} ${HEIGHT}V${at}`).replace(/$/, `V${HEIGHT}`)
    : "";
  return html`${filled && html`<path class=${`area ${kind}`} d=${filled} />`}<path class=${`line ${kind}`} d=${d} />`;
}
