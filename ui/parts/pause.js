// @ts-check
// Pauses: the list of those in force, and the button that pauses a thing or lets it go on.

import { pathOf, send } from "../core/api.js";
import { now } from "../core/clock.js";
import { html, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { FAMILIES, ROLES } from "../core/vocabulary.js";
import { FormDialog } from "./form.js";
import { Icon } from "./icon.js";
import { Until } from "./time.js";
import { act } from "./toast.js";

/** @import { Pause, PauseList, PauseRequest } from "../types/api" */
/** @import { Values } from "./form.js" */

/** Lengths of a pause in minutes, and their words. @type {[string, string][]} */
const LENGTHS = [["", "until it is resumed"], ["30", "30 minutes"], ["120", "2 hours"], ["1440", "1 day"]];

/** The pauses in force; their event contains them. */
export const usePauses = () =>
  useResource(pathOf("/api/pauses"), { topics: ["pauses"], gap: 15_000, apply: (_, /** @type {PauseList} */ event) => event });

/** What it stops, for people. @param {Pick<Pause, "scope" | "of">} pause */
export const pausedThing = ({ scope, of }) => (of == null ? "everything" : `${scope} ${of}`);

/** @param {{ pauses: Pause[] | undefined, scopes?: Pause["scope"][] }} properties those of some scopes, or all */
export function Pauses({ pauses = [], scopes }) {
  const shown = pauses.filter(({ scope }) => !scopes || scopes.includes(scope));
  return shown.map((pause) =>
    html`<p class="banner" role="status" key=${pause.id}><${Icon} name="pause" /><span><b>Paused: <bdi>${pausedThing(pause)}</bdi></b>,
      by ${pause.created_by}: <bdi>${pause.reason}</bdi>${pause.until && html`. It ends <${Until} at=${pause.until} />`}</span>
      ${may("operator") && html`<button class="btn small" type="button" onClick=${() => resume(pause)}>Resume
        <span class="sr"> ${pausedThing(pause)}</span></button>`}</p>`);
}

/**
 * Pauses one thing, or lets it go on.
 * @param {object} properties
 * @param {Pause["scope"]} properties.scope
 * @param {string} [properties.of]
 * @param {string} properties.name of the thing, for people
 * @param {Pause[] | undefined} properties.pauses
 * @param {boolean} [properties.isSmall]
 */
export function PauseButton({ scope, of, name, pauses, isSmall = false }) {
  const [isOpen, open] = useState(false);
  if (!may("operator")) return null;
  const pause = (pauses ?? []).find((each) => each.scope === scope && each.of == of);
  const kind = isSmall ? "btn small quiet" : "btn";
  return html`${pause
      ? html`<button class=${kind} type="button" onClick=${() => resume(pause)}>Resume<span class="sr"> ${name}</span></button>`
      : html`<button class=${kind} type="button" onClick=${() => open(true)}>Pause…<span class="sr"> ${name}</span></button>`}
    ${isOpen && html`<${PauseForm} scope=${scope} of=${of} name=${name} onClose=${() => open(false)} />`}`;
}

/** Pauses everything, a family or a role: the form asks which. */
export function PauseChoice() {
  const [isOpen, open] = useState(false);
  if (!may("operator")) return null;
  return html`<button class="btn" type="button" onClick=${() => open(true)}><${Icon} name="pause" />Pause…</button>
    ${isOpen && html`<${PauseForm} onClose=${() => open(false)} />`}`;
}

/** The things that the form offers. @returns {[string, string][]} */
const choices = () => [
  ["all", "everything"],
  ...FAMILIES.map((family) => /** @type {[string, string]} */ ([`family ${family}`, `all ${family} tasks`])),
  ...ROLES.map((role) => /** @type {[string, string]} */ ([`role ${role}`, `role ${role}`])),
];

/** @param {{ scope?: Pause["scope"], of?: string, name?: string, onClose: () => void }} properties */
const PauseForm = ({ scope, of, name, onClose }) =>
  html`<${FormDialog} title=${name ? `Pause ${name}?` : "What is to pause?"} action=${`Pause ${name ?? "it"}`} onClose=${onClose}
    done=${(/** @type {Pause} */ pause) => `Paused: ${pausedThing(pause)}`}
    fields=${[
      ...(scope ? [] : [{ name: "thing", label: "Pause", type: "select", options: choices() }]),
      { name: "reason", label: "Reason", required: true, help: "shown to others, and kept in the audit" },
      { name: "minutes", label: "For", type: "select", options: LENGTHS },
    ]}
    submit=${(/** @type {Values} */ { thing, reason, minutes }) =>
      send("POST", pathOf("/api/pauses"), {
        ...(scope ? { scope, of } : chosen(String(thing))),
        reason: String(reason),
        ...(minutes && { until: new Date(now() + Number(minutes) * 60_000).toISOString() }),
      })}>
      <p>Tasks that run end as they would; no further ones are claimed.</p></${FormDialog}>`;

/** @param {string} thing @returns {Pick<PauseRequest, "scope" | "of">} */
function chosen(thing) {
  const [scope, of] = thing.split(" ");
  return { scope: /** @type {Pause["scope"]} */ (scope), ...(of && { of }) };
}

/** @param {Pause} pause */
const resume = (pause) => act(() => send("DELETE", pathOf("/api/pauses/{id}", { id: pause.id })), `Resumed: ${pausedThing(pause)}`);
