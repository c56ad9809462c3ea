// @ts-check
// A small button in a row, whose name includes the row for screen readers. From the click until the row was read again it is busy,
// and another click does nothing.

import { html, useRef, useState } from "../core/html.js";
import { whenRead } from "../core/resource.js";

/** @param {{ action: string, of: string, isMain?: boolean, hotkey?: string, onClick: () => unknown }} properties */
export function RowAction({ action, of, isMain = false, hotkey, onClick }) {
  const [isBusy, show] = useState(false);
  const busy = useRef(false);
  const become = (/** @type {boolean} */ is) => {
    busy.current = is;
    show(is);
  };
  const run = async () => {
    // the state is that of the last drawing, and the second click may come before the next one
    if (busy.current) return;
    become(true);
    try {
      await onClick();
      await whenRead();
    } finally {
      become(false);
    }
  };
  return html`<button class=${`btn small ${isMain ? "" : "quiet"}`} type="button" data-key=${hotkey} aria-busy=${isBusy} onClick=${run}>
    ${action}<span class="sr"> ${of}</span></button>`;
}
