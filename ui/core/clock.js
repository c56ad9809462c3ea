// @ts-check
// The server's time, and the ages on the page that follow it.

/** Lead of the server's clock over this machine's, in milliseconds. */
let ahead = 0;

/** Tolerance for whole seconds in headers, and for the time in transit. */
const TOLERATED_MS = 3_000;

/** @param {string | null} date a header of an answer */
export function noteServerTime(date) {
  const time = date ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(time)) return;
  const difference = time - Date.now();
  ahead = Math.abs(difference) < TOLERATED_MS ? 0 : difference;
}

/** Now, in milliseconds, by the server's clock. */
export const now = () => Date.now() + ahead;
