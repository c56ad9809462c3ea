// @ts-check
// A part of a page that a phone shows closed, and a desk as it is.

import { html, useEffect, useState } from "../core/html.js";

/** @import { Children } from "../core/html.js" */

const PHONE = matchMedia("(max-width: 45rem)");

/** Whether the window is as narrow as a phone, now and whenever it changes. */
export function useIsPhone() {
  const [is, become] = useState(PHONE.matches);
  useEffect(() => {
    const again = () => become(PHONE.matches);
    PHONE.addEventListener("change", again);
    return () => PHONE.removeEventListener("change", again);
  }, []);
  return is;
}

/** @param {{ title: string, scope?: Children, children?: Children }} properties */
export function Secondary({ title, scope, children }) {
  if (!useIsPhone()) return children;
  return html`<details class="panel secondary"><summary><b>${title}</b> ${scope && html`<span class="scope">${scope}</span>`}</summary>${children}</details>`;
}
