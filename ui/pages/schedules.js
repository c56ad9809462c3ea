// @ts-check
import { html } from "../core/html.js";
import { PageHead } from "../parts/panel.js";
import { usePage } from "../parts/page.js";

export function Page() {
  usePage("Soon");
  return html`<${PageHead} title="Soon" />`;
}
