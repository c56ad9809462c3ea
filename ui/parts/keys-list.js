// @ts-check
// The dialog that lists the keys.

import { html } from "../core/html.js";
import { may } from "../core/session.js";
import { PAGES } from "../pages.js";
import { Dialog } from "./dialog.js";

const HELP = [
  ["/", "search"],
  ["?", "these keys"],
  ["j k", "next row, row before"],
  ["Enter", "open the row"],
  ["x", "select the row; with shift, all from the last one"],
  ["r", "retry the selection, or the task of the page"],
  ["Escape", "close, leave a field"],
];

/** @param {{ onClose: () => void }} properties */
export const KeysList = ({ onClose }) =>
  html`<${Dialog} title="Keys" onClose=${onClose}>
    <dl class="facts keys">
      ${HELP.map(([keys, text]) => html`<dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${text}</dd>`)}
      ${PAGES.filter(({ key, role }) => key && (!role || may(role))).map(({ key, title }) =>
        html`<dt><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>${title}</dd>`)}
    </dl>
    <div class="row"><button class="btn" type="button" autofocus onClick=${onClose}>Close</button></div>
  </${Dialog}>`;
