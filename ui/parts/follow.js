// @ts-check
// Progress, which no event tells: an answer is read again in steps while something of it runs.

import { useEffect } from "../core/html.js";

const STEP_MS = 3_000;

/** @param {{ reload: () => Promise<void> }} answer @param {string} path of the answer @param {boolean} isRunning */
export function useProgress(answer, path, isRunning) {
  useEffect(() => {
    if (!isRunning) return undefined;
    const step = () => {
      if (!document.hidden) void answer.reload();
    };
    const timer = setInterval(step, STEP_MS);
    return () => clearInterval(timer);
  }, [path, isRunning]);
}
