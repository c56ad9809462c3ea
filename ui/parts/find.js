// @ts-check
// The box in the top bar: goes to a page, a state, a task, store, product or proxy. Its search is loaded with the
// first word.

import { link } from "../core/base.js";
import { html, useEffect, useRef, useState } from "../core/html.js";
import { navigate } from "../core/router.js";

/** Pause after the last key, before the server is asked. */
const PAUSE_MS = 200;

/** @import { EventOf } from "../core/html.js" */
/** @typedef {{ href: string, text: string, kind: string }} Found */

const loaded = () => import("./found.js");
const named = (/** @type {string} */ text) => loaded().then((found) => found.named(text));
const search = (/** @type {string} */ text, /** @type {AbortSignal} */ signal) => loaded().then((found) => found.search(text, signal));

export function Find() {
  const [typed, type] = useState("");
  const [found, show] = useState(/** @type {Found[]} */ ([]));
  const [chosen, choose] = useState(0);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    const text = typed.trim();
    if (!text) return show([]);
    const control = new AbortController();
    named(text).then((known) => !control.signal.aborted && show(known), () => {});
    const timer = setTimeout(() => {
      search(text, control.signal).then((all) => !control.signal.aborted && show(all), () => {});
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [typed]);

  const go = (/** @type {Found | undefined} */ to) => {
    if (!to) return;
    type("");
    choose(0);
    input.current?.blur();
    navigate(to.href);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") {
      type("");
      input.current?.blur();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length > 0) {
      event.preventDefault();
      choose((at) => (at + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length);
    }
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const from = location.href;
    const answers = found.length > 0 ? found : await search(typed.trim(), AbortSignal.timeout(5_000)).catch(() => []);
    if (location.href !== from || input.current?.value !== typed) return;
    go(answers[chosen] ?? answers[0] ??
      (typed.trim() ? { href: link("/admin/stores", { q: typed.trim() }), text: "", kind: "" } : undefined));
  };
  return html`<form class="find" role="search" aria-label="Everything" onSubmit=${submit}>
    <label class="sr" for="find">Go to a page, state, task, store, product or proxy</label>
    <input id="find" ref=${input} type="search" placeholder="Go to a page, task, store, product, proxy" autocomplete="off" value=${typed}
      role="combobox" aria-expanded=${found.length > 0} aria-controls="found"
      aria-activedescendant=${found.length > 0 ? `found-${chosen}` : undefined}
      onInput=${(/** @type {EventOf<HTMLInputElement>} */ event) => {
        type(event.target.value);
        choose(0);
      }} onKeyDown=${onKeyDown} />
    <kbd aria-hidden="true">/</kbd>
    <ul class=${`suggest ${found.length > 0 ? "is-shown" : ""}`} id="found" role="listbox" aria-label="Found">
      ${found.map(
        (each, at) => html`<li role="option" id=${`found-${at}`} key=${each.href} aria-selected=${at === chosen}
          onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${() => go(each)}>
          <span class="cut">${each.text}</span><span>${each.kind}</span></li>`,
      )}
    </ul>
  </form>`;
}
