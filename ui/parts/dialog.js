// @ts-check
// Dialogs: one of a page's own, and the question before an irreversible action.

import { html, useEffect, useRef, useState } from "../core/html.js";

/** @import { Children, EventOf } from "../core/html.js" */

/**
 * @param {object} properties
 * @param {string} properties.title
 * @param {() => void} properties.onClose
 * @param {boolean} [properties.isWide] for a table
 * @param {Children} [properties.children]
 */
export function Dialog({ title, onClose, isWide = false, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const dialog = element.current;
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog?.showModal();
    return () => {
      dialog?.close();
      before?.focus?.();
    };
  }, []);
  return html`<dialog class=${`dialog ${isWide ? "wide" : ""}`} ref=${element} aria-labelledby="dialog-title" onCancel=${(/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  }}><h2 id="dialog-title">${title}</h2>${children}</dialog>`;
}

/**
 * @typedef {object} Question
 * @property {string} title ends with a question mark, and names the count
 * @property {Children} [body]
 * @property {string} action the button's word
 * @property {string} [keep] the word of the other button
 * @property {boolean} [danger]
 * @property {string} [typed] what must be typed first
 */

/** @type {((question: Question & { answer: (yes: boolean) => void }) => void) | null} */
let show = null;
/** A question is open. Another one would replace it under the pointer. */
let isAsking = false;

/**
 * Asks before an action. False, too, while another question is open.
 * @param {Question} question
 * @returns {Promise<boolean>}
 */
export const confirm = (question) =>
  new Promise((answer) => {
    if (!show || isAsking) return answer(false);
    isAsking = true;
    return show({ ...question, answer });
  });

export function Questions() {
  const [asked, ask] = useState(/** @type {(Question & { answer: (yes: boolean) => void }) | null} */ (null));
  useEffect(() => {
    show = ask;
    return () => {
      show = null;
    };
  }, []);
  if (!asked) return null;
  const answer = (/** @type {boolean} */ yes) => {
    isAsking = false;
    ask(null);
    asked.answer(yes);
  };
  return html`<${Asked} ...${asked} answer=${answer} />`;
}

/** @param {Question & { answer: (yes: boolean) => void }} properties */
function Asked({ title, body, action, keep = "Cancel", danger = false, typed, answer }) {
  const [text, type] = useState("");
  const isReady = !typed || text === typed;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isReady) answer(true);
  };
  return html`<${Dialog} title=${title} onClose=${() => answer(false)}>
    <form onSubmit=${submit}>
      <div class="stack">${body}
        ${typed &&
        html`<label class="field">Type ${typed} to confirm
          <input value=${text} autocomplete="off"
            onInput=${(/** @type {EventOf<HTMLInputElement>} */ event) => type(event.target.value)} /></label>`}
        <div class="row">
          <button class="btn" type="button" autofocus onClick=${() => answer(false)}>${keep}</button>
          <button class=${`btn primary ${danger ? "danger" : ""}`} type="submit" disabled=${!isReady}>${action}</button>
        </div>
      </div>
    </form>
  </${Dialog}>`;
}
