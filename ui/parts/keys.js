// @ts-check
// Keys. They are off while a field has the focus. The dialog that lists them is loaded when it is first opened.

import { link } from "../core/base.js";
import { html, useEffect, useState } from "../core/html.js";
import { navigate } from "../core/router.js";
import { PAGES } from "../pages.js";
import { toast } from "./toast.js";

/** @import { ComponentType } from "../vendor/preact.js" */

const KEYED = PAGES.filter(({ key }) => key);

/** Maximum time between `g` and its letter. */
const LETTER_MS = 1_500;

/** @type {() => void} */
export let showKeys = () => {};

export function Keys() {
  const [List, show] = useState(/** @type {ComponentType<{ onClose: () => void }> | null} */ (null));
  useEffect(() => {
    showKeys = () =>
      void import("./keys-list.js").then(
        ({ KeysList }) => show(() => KeysList),
        () => toast("bad", "The keys could not be loaded: the server does not answer"),
      );
    let goUntil = 0;
    const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping()) return;
      if (document.querySelector("dialog[open]") || (event.repeat && !"jk".includes(event.key))) return;
      const goes = event.timeStamp < goUntil ? KEYED.find(({ key }) => key === event.key) : undefined;
      goUntil = 0;
      if (goes) navigate(link(goes.path));
      else if (event.key === "g") goUntil = event.timeStamp + LETTER_MS;
      else if (event.key === "?") showKeys();
      else if (!press(event.key)) return;
      event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  return List && html`<${List} onClose=${() => show(null)} />`;
}

function isTyping() {
  const element = document.activeElement;
  return element instanceof HTMLElement &&
    (element.matches("input:not([type=checkbox], [type=radio]), textarea, select") || element.isContentEditable);
}

/** @param {string} key @returns {boolean} whether it means something here */
function press(key) {
  if (key === "j" || key === "k") return move(key === "j" ? 1 : -1);
  const row = document.activeElement?.closest("tr[data-row]");
  if (key === "x" || key === "X") return click(row?.querySelector("input[type=checkbox]"), key === "X");
  if (key === "/") return focus(document.querySelector("main [data-key='/']") ?? document.querySelector("#find"));
  return click(row?.querySelector(`[data-key="${CSS.escape(key)}"]`) ?? document.querySelector(`main [data-key="${CSS.escape(key)}"]`));
}

/** Moves to the next row, or to the one before. @param {number} step */
function move(step) {
  const rows = [...document.querySelectorAll("main tr[data-row]")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const to = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))];
  const isMoved = focus(to?.querySelector("a, button"));
  to?.scrollIntoView({ block: "nearest" });
  return isMoved;
}

/** @param {Element | null | undefined} element */
function focus(element) {
  if (!(element instanceof HTMLElement)) return false;
  element.focus();
  return true;
}

/** @param {Element | null | undefined} element @param {boolean} [shiftKey] */
function click(element, shiftKey = false) {
  if (!(element instanceof HTMLElement) || element.matches(":disabled")) return false;
  element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey }));
  return true;
}
