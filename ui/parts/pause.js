// @ts-check
// Pauses: the list of those in force, and the buttons that pause a thing or let it go on.

import { pathOf, send } from "../core/api.js";
import { html, useState } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { Icon } from "./icon.js";
import { Until } from "./time.js";
import { act, toast } from "./toast.js";

/** @import { Pause, PauseList } from "../types/api" */
/** @import { PauseFormProperties } from "./pause-form.js" */
/** @import { ComponentType } from "../vendor/preact.js" */

/** The pauses in force; their event contains them. */
export const usePauses = () =>
  useResource(pathOf("/api/pauses"), { topics: ["pauses"], gap: 15_000, apply: (_, /** @type {PauseList} */ event) => event });

/** The stopped thing, for people. @param {Pick<Pause, "scope" | "of">} pause */
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
export function PauseButton({ isSmall = false, ...thing }) {
  const { word, onClick, form } = usePauseAction(thing);
  if (!may("operator")) return null;
  return html`<button class=${isSmall ? "btn small quiet" : "btn"} type="button" onClick=${onClick}>${word}<span class="sr"> ${thing.name}</span></button>
    ${form}`;
}

/**
 * The action that pauses one thing, or lets it go on, and its form once it is open.
 * @param {object} properties
 * @param {Pause["scope"]} properties.scope
 * @param {string} [properties.of]
 * @param {string} properties.name of the thing, for people
 * @param {Pause[] | undefined} properties.pauses
 */
export function usePauseAction({ scope, of, name, pauses }) {
  const { Form, open, close } = usePauseForm();
  const pause = (pauses ?? []).find((each) => each.scope === scope && each.of == of);
  return {
    word: pause ? "Resume" : "Pause…",
    of: name,
    onClick: () => (pause ? resume(pause) : open()),
    form: Form && html`<${Form} scope=${scope} of=${of} name=${name} onClose=${close} />`,
  };
}

/** Pauses everything, a family or a role: the form asks which. */
export function PauseChoice() {
  const form = usePauseForm();
  if (!may("operator")) return null;
  return html`<button class="btn" type="button" onClick=${form.open}><${Icon} name="pause" />Pause…</button>
    ${form.Form && html`<${form.Form} onClose=${form.close} />`}`;
}

/** The form, loaded when it is first opened. */
function usePauseForm() {
  const [Form, show] = useState(/** @type {ComponentType<PauseFormProperties> | null} */ (null));
  return {
    Form,
    open: () =>
      import("./pause-form.js").then(
        ({ PauseForm }) => show(() => PauseForm),
        () => toast("bad", "The form could not be loaded: the server does not answer"),
      ),
    close: () => show(null),
  };
}

/** @param {Pause} pause */
const resume = (pause) => act(() => send("DELETE", pathOf("/api/pauses/{id}", { id: pause.id })), `Resumed: ${pausedThing(pause)}`);
