// @ts-check
// A field of a form that takes a store: by its name, with a search, or by its id. Its value is the id.

import { html, useEffect, useRef, useState } from "../core/html.js";
import { findStores } from "../core/stores.js";

/** @import { EventOf } from "../core/html.js" */

/** Pause after the last key, before the server is asked. */
const PAUSE_MS = 200;

/** @param {{ id: string, name: string, required?: boolean, described?: string, isWrong: boolean, first?: string | number }} properties `first`: the id at first */
export function StoreField({ id, name, required, described, isWrong, first = "" }) {
  const [typed, type] = useState(String(first));
  const [offered, offer] = useState(/** @type {{ text: string, id: number }[]} */ ([]));
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    if (!typed.trim() || idOf(typed, offered) !== null) return undefined;
    const control = new AbortController();
    const timer = setTimeout(() => {
      findStores(typed.trim(), control.signal).then(
        (stores) => offer(stores.map((store) => ({ text: `${store.name} · ${[store.place, store.id].filter(Boolean).join(" · ")}`, id: store.id }))),
        () => {},
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [typed]);
  const chosen = idOf(typed, offered);
  useEffect(() => {
    input.current?.setCustomValidity(typed.trim() && chosen === null ? "Choose one of the stores that are offered, or type its id" : "");
  }, [typed, chosen]);
  return html`<input ref=${input} id=${id} type="text" list=${`${id}-stores`} autocomplete="off" required=${required} placeholder="Name, slug or id"
      aria-describedby=${described} aria-invalid=${isWrong ? "true" : undefined} value=${typed}
      onInput=${(/** @type {EventOf<HTMLInputElement>} */ event) => type(event.target.value)} />
    <datalist id=${`${id}-stores`}>${offered.map(({ text, id: key }) => html`<option key=${key} value=${text}></option>`)}</datalist>
    <input type="hidden" name=${name} value=${chosen ?? ""} />`;
}

/** An id, a store as it is offered, or the only one that is. @param {string} typed @param {{ text: string, id: number }[]} offered */
function idOf(typed, offered) {
  const text = typed.trim();
  if (/^\d{1,18}$/.test(text)) return Number(text);
  if (!text) return null;
  const named = offered.filter((each) => each.text === text || each.text.split(" · ")[0].toLowerCase() === text.toLowerCase());
  return named.length === 1 ? named[0].id : null;
}
