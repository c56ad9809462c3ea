// @ts-check
// The box in the top bar: goes to a task, store, product or proxy.

import { get, pathOf } from "../core/api.js";
import { link } from "../core/base.js";
import { html, useEffect, useRef, useState } from "../core/html.js";
import { navigate } from "../core/router.js";

/** Pause after the last key, before the server is asked. */
const PAUSE_MS = 200;
const EACH = 4;

/** @import { EventOf } from "../core/html.js" */
/** @import { ProxyListing } from "../types/api" */
/** @typedef {{ href: string, text: string, kind: string }} Found */

export function Find() {
  const [typed, type] = useState("");
  const [found, show] = useState(/** @type {Found[]} */ ([]));
  const [chosen, choose] = useState(0);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    if (!typed.trim()) return show([]);
    const control = new AbortController();
    const timer = setTimeout(() => {
      search(typed.trim(), control.signal).then(show, () => {});
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
    const answers = found.length > 0 ? found : await search(typed.trim(), AbortSignal.timeout(5_000)).catch(() => []);
    go(answers[chosen] ?? answers[0] ??
      (typed.trim() ? { href: link("/admin/stores", { q: typed.trim() }), text: "", kind: "" } : undefined));
  };
  return html`<form class="find" role="search" aria-label="Everything" onSubmit=${submit}>
    <label class="sr" for="find">Go to a task, store, product or proxy</label>
    <input id="find" ref=${input} type="search" placeholder="Go to a task, store, product, proxy" autocomplete="off" value=${typed}
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

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function search(text, signal) {
  if (!text) return [];
  const none = () => null;
  const [task, stores, products, proxies] = await Promise.all([
    /^\d{1,18}$/.test(text) ? get(pathOf("/api/tasks/{id}", { id: text }), { signal }).catch(none) : null,
    get(pathOf("/api/stores", { q: text, limit: EACH }), { signal }).catch(none),
    text.length > 2 ? get(pathOf("/api/products/search", { q: text, limit: EACH }), { signal }).catch(none) : null,
    get(pathOf("/api/proxies", { limit: 500 }), { signal }).catch(none),
  ]);
  const isAlike = (/** @type {ProxyListing} */ proxy) => `${proxy.host}:${proxy.port}`.includes(text);
  return [
    ...(task ? [{ href: link(`/admin/tasks/${task.id}`), text: `${task.id} ${task.role}`, kind: "task" }] : []),
    ...(stores?.stores ?? []).map(({ id, name }) => ({ href: link(`/admin/stores/${id}`), text: name, kind: "store" })),
    ...(products?.products ?? []).map(({ id, name }) => ({ href: link(`/admin/products/${id}`), text: name, kind: "product" })),
    ...(proxies?.proxies ?? []).filter(isAlike).slice(0, EACH).map(foundProxy),
  ];
}

/** @param {ProxyListing} proxy @returns {Found} */
function foundProxy({ host, port }) {
  const text = `${host}:${port}`;
  return { href: link("/admin/proxies", { q: text }), text, kind: "proxy" };
}
