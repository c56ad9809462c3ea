// @ts-check
// The actions of a page: one primary button and the others beside it, in one menu where there are more than
// two.

import { html, useEffect, useRef, useState } from "../core/html.js";
import { Icon } from "./icon.js";

/** @import { Children } from "../core/html.js" */

/** Maximum number of buttons beside the primary one. */
const MAX_BESIDE = 2;

/**
 * @typedef {object} Action
 * @property {string} word
 * @property {string} [icon]
 * @property {string} [of] the thing, for screen readers
 * @property {string} [href] of a link
 * @property {string} [download] name of the file that the link leads to
 * @property {() => unknown} [onClick] of a button
 * @property {string} [hindrance] a sentence on why the button does nothing now
 */

/**
 * @param {object} properties
 * @param {Action} [properties.main]
 * @param {Action[]} [properties.others]
 * @param {Children} [properties.children] a button of its own beside the primary one
 */
export function Actions({ main, others = [], children }) {
  const isMenu = others.length > MAX_BESIDE;
  return html`${main && html`<${Button} ...${main} kind="primary" />`}${children}
    ${isMenu
      ? html`<${Menu} word="More" label="More actions" actions=${others} />`
      : others.map((action) => html`<${Button} key=${action.word} ...${action} />`)}`;
}

/** @param {Action & { kind?: string }} properties */
function Button({ word, icon, of, href, onClick, hindrance, kind = "" }) {
  const content = html`${icon && html`<${Icon} name=${icon} />`}${word}${of && html`<span class="sr"> ${of}</span>`}
    ${hindrance && html`<span class="sr">: ${hindrance}</span>`}`;
  return href
    ? html`<a class=${`btn ${kind}`} href=${href}>${content}</a>`
    : html`<button class=${`btn ${kind}`} type="button" disabled=${!!hindrance} title=${hindrance} onClick=${onClick}>${content}</button>`;
}

/** @param {{ word: string, label: string, actions: Action[] }} properties */
export function Menu({ word, label, actions }) {
  const id = `menu-${word.toLowerCase()}`;
  /** Index of the action that has the focus; null: closed. */
  const [at, go] = useState(/** @type {number | null} */ (null));
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const isOpen = at !== null;
  useEffect(() => {
    if (at !== null) /** @type {HTMLElement | undefined} */ (root.current?.querySelectorAll("[role=menuitem]")[at])?.focus();
  }, [at]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const onPointerDown = (/** @type {Event} */ event) => {
      if (!root.current?.contains(/** @type {Node} */ (event.target))) go(null);
    };
    addEventListener("pointerdown", onPointerDown);
    return () => removeEventListener("pointerdown", onPointerDown);
  }, [isOpen]);
  const close = () => {
    go(null);
    root.current?.querySelector("button")?.focus();
  };
  const choose = (/** @type {Action} */ action) => {
    close();
    action.onClick?.();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const to = targetOf(event.key, at, actions.length);
    if (event.key === "Tab") go(null);
    if (to === undefined) return;
    event.preventDefault();
    // a page's own Escape does something else
    event.stopPropagation();
    if (to === null) close();
    else go(to);
  };
  return html`<span class="more-of" ref=${root} onKeyDown=${onKeyDown}>
    <button class="btn" type="button" aria-haspopup="menu" aria-expanded=${isOpen} aria-controls=${isOpen ? id : undefined}
      onClick=${() => go(isOpen ? null : 0)}>${word}<${Icon} name="more" /></button>
    ${isOpen && html`<ul class="options" id=${id} role="menu" aria-label=${label}>
      ${actions.map((action) => html`<li key=${action.word} role="none"><${Item} ...${action} onChoose=${() => choose(action)} /></li>`)}</ul>`}
  </span>`;
}

/** @param {Action & { onChoose: () => void }} properties */
const Item = ({ word, of, href, download, onChoose }) => {
  const content = html`${word}${of && html`<span class="sr"> ${of}</span>`}`;
  return href
    ? html`<a role="menuitem" tabindex="-1" href=${href} download=${download} onClick=${onChoose}>${content}</a>`
    : html`<button role="menuitem" type="button" tabindex="-1" onClick=${onChoose}>${content}</button>`;
};

/**
 * The action that a key leads to; null: it closes the menu; undefined: the key means nothing here.
 * @param {string} key @param {number | null} at @param {number} actions
 */
function targetOf(key, at, actions) {
  if (key === "ArrowDown") return at === null ? 0 : (at + 1) % actions;
  if (key === "ArrowUp") return at === null ? actions - 1 : (at - 1 + actions) % actions;
  if (at === null) return undefined;
  if (key === "Home") return 0;
  if (key === "End") return actions - 1;
  return key === "Escape" ? null : undefined;
}
