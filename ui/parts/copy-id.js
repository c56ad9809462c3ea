// @ts-check
// A button that copies the id of a thing, and says so for a moment.

import { html, useEffect, useState } from "../core/html.js";
import { Icon } from "./icon.js";
import { toast } from "./toast.js";

const SHOWN_MS = 2_000;

/** @param {{ id: number | string, what: string }} properties the thing's kind, such as task */
export function CopyId({ id, what }) {
  const [isCopied, show] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => show(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    if (await copied(String(id))) show(true);
    else toast("bad", `The browser does not let this page copy: the id of the ${what} is ${id}`);
  };
  return html`<span class="copy"><button class="icon-btn" type="button" aria-label=${`Copy the id of ${what} ${id}`}
      title=${`Copy the id ${id}`} onClick=${copy}><${Icon} name=${isCopied ? "done" : "copy"} /></button>
    <span class="scope" role="status">${isCopied && "Copied"}</span></span>`;
}

/** Whether the text was copied. Pages without TLS have no clipboard of their own. @param {string} text */
async function copied(text) {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // refused: the older way may be allowed
  }
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true, className: "sr" });
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  before?.focus({ preventScroll: true });
  return isDone;
}
