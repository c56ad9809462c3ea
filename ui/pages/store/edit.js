// @ts-check
// The form that corrects a store: its name, its slug, its menu's address, its id at the platform, its place.

import { pathOf, send } from "../../core/api.js";
import { html, useState } from "../../core/html.js";
import { may } from "../../core/session.js";
import { PLATFORMS } from "../../core/vocabulary.js";
import { FormDialog } from "../../parts/form.js";

/** @import { ChangedStore, StoreView } from "../../types/api" */
/** @import { BodyOf } from "../../types/requests" */

/** @typedef {BodyOf<"/api/stores/{id}", "PUT">} Change */

/** @param {{ of: StoreView, kind?: string }} properties */
export function EditButton({ of, kind = "" }) {
  const [isOpen, open] = useState(false);
  if (!may("operator")) return null;
  return html`<button class=${`btn ${kind}`} type="button" onClick=${() => open(true)}>Edit…<span class="sr"> ${of.name}</span></button>
    ${isOpen && html`<${EditStore} of=${of} onClose=${() => open(false)} />`}`;
}

/** @param {{ of: StoreView, onClose: () => void }} properties */
export function EditStore({ of, onClose }) {
  const fields = [
    { name: "name", label: "Name", value: of.name, required: true },
    { name: "platform", label: "Platform", type: "select", options: PLATFORMS, value: of.platform, help: "another one: the store moves there with its history" },
    { name: "slug", label: "Slug", value: of.slug ?? null, help: "the last part of its menu's address" },
    {
      name: "menu_url",
      label: "Menu",
      value: of.menu_url ?? null,
      placeholder: "https://…",
      help: "its address; the id is looked up there, not by the slug",
    },
    {
      name: "platform_dispensary_id",
      label: "Id at the platform",
      value: of.platform_dispensary_id ?? null,
      help: "empty: it is looked up again",
    },
    { name: "city", label: "City", value: of.city ?? null },
    { name: "state", label: "State", value: of.state ?? null, placeholder: "AZ" },
    { name: "timezone", label: "Time zone", value: of.timezone ?? null, placeholder: "America/Phoenix", help: "empty: that of its state" },
  ];
  const submit = (/** @type {Record<string, string | null>} */ values) => {
    // what was not touched may have changed meanwhile
    const changed = fields.filter(({ name, value }) => values[name] !== value).map(({ name }) => [name, values[name]]);
    const change = /** @type {Change} */ (changed.length > 0 ? Object.fromEntries(changed) : { name: of.name });
    return send("PUT", pathOf("/api/stores/{id}", { id: of.id }), change);
  };
  return html`<${FormDialog} title="Edit store" action="Save" onClose=${onClose} fields=${fields} submit=${submit} done=${doneText}>
    <p class="scope">Without an id, another slug or address is looked up at once. With another id, its next crawl begins at once.</p></${FormDialog}>`;
}

/** @param {ChangedStore} store */
const doneText = ({ name, lookup_next_at: next, notice }) => notice ?? `${name} is changed${next ? ", and its id is looked up" : ""}`;
