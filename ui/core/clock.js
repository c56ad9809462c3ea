// @ts-check
// The server's time, and the ages on the page that follow it.

/** What the server's clock is ahead of this machine's, in milliseconds. */
let ahead = 0;

/** Of whole seconds in headers, and of the way they take. */
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
