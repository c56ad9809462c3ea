// @ts-check
// The form that pauses a thing, with its reason and its length.

import { pathOf, send } from "../core/api.js";
import { now } from "../core/clock.js";
import { html } from "../core/html.js";
import { roles } from "../core/session.js";
import { FormDialog } from "./form.js";
import { pausedThing } from "./pause.js";

/** @import { Pause, PauseRequest } from "../types/api" */
/** @import { Values } from "./form.js" */

/** Lengths of a pause in minutes, and their words. @type {[string, string][]} */
const LENGTHS = [["", "until it is resumed"], ["30", "30 minutes"], ["120", "2 hours"], ["1440", "1 day"]];

/** The things that the form offers. @returns {[string, string][]} */
const choices = () => [
  ["all", "everything"],
  ...[...new Set(roles().map(({ family }) => family))].map((family) => /** @type {[string, string]} */ ([`family ${family}`, `all ${family} tasks`])),
  ...roles().map(({ role }) => /** @type {[string, string]} */ ([`role ${role}`, `role ${role}`])),
];

/**
 * @typedef {object} PauseFormProperties without a scope, the form asks for everything, a family or a role
 * @property {Pause["scope"]} [scope]
 * @property {string} [of]
 * @property {string} [name] of the thing, for people
 * @property {() => void} onClose
 */

/** @param {PauseFormProperties} properties */
export const PauseForm = ({ scope, of, name, onClose }) =>
  html`<${FormDialog} title=${name ? `Pause ${name}?` : "Pause tasks?"} action=${name ? `Pause ${name}` : "Pause"} onClose=${onClose}
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
      <p>Running tasks finish normally; no more are claimed.</p></${FormDialog}>`;

/** @param {string} thing @returns {Pick<PauseRequest, "scope" | "of">} */
function chosen(thing) {
  const [scope, of] = thing.split(" ");
  return { scope: /** @type {Pause["scope"]} */ (scope), ...(of && { of }) };
}
