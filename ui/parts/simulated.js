// @ts-check
// Which figures of a demo count its simulated history, at each figure. Empty without a demo.

import { useNavigation } from "../core/answers.js";
import { now } from "../core/clock.js";
import { html } from "../core/html.js";

const HOUR_MS = 3_600_000;

/** Whether simulated history reaches into the time since `from`. @param {string | number | undefined} from */
function useIsSimulated(from) {
  const until = useNavigation().data?.simulated_until;
  return !!until && from !== undefined && new Date(from).getTime() < Date.parse(until);
}

/** Beside the period of a chart. @param {{ from?: string | number }} properties its first point */
export const SimulatedPart = ({ from }) =>
  useIsSimulated(from) && html` <span class="tag">partly simulated</span>`;

/** Words behind the scope of a figure of the last hour. @returns {{ counted: string, real: string }} where it counts simulated ones, and where not */
export function useHourOfDemo() {
  const is = useIsSimulated(now() - HOUR_MS);
  return { counted: is ? ", partly simulated" : "", real: is ? ", none simulated" : "" };
}
