// @ts-check
// A document as JSON, with a button that copies it.

import { html } from "../../core/html.js";
import { toast } from "../../parts/toast.js";

/** Maximum length on the page; the copy is whole. */
const MAX_CHARS = 20_000;

/** @param {{ of: unknown, label: string, none: string }} properties */
export function Json({ of, label, none }) {
  const isEmpty = of === null || of === undefined || (typeof of === "object" && Object.keys(of).length === 0);
  if (isEmpty) return html`<div class="panel-body"><p class="dim">${none}</p></div>`;
  const text = JSON.stringify(of, null, 2);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast("good", `${label} is copied`);
    } catch {
      toast("bad", "The browser does not let this page copy: it needs https, or localhost");
    }
  };
  return html`<div class="panel-body">
    <pre class="code" tabindex="0" role="region" aria-label=${label}>${text.slice(0, MAX_CHARS)}
      ${text.length > MAX_CHARS ? "\n…" : ""}</pre>
    <div class="row"><button class="btn small" type="button" onClick=${copy}>Copy<span class="sr"> ${label}</span></button></div></div>`;
}
