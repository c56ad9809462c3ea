// @ts-check
// Filters as words in one box: `status:failed retries:>1 refused`. In: the qualifiers of a list. Out:
// parameters of the page's address.

import { html, useRef, useState } from "../core/html.js";
import { setQuery } from "../core/router.js";
import { PLATFORMS } from "../core/vocabulary.js";
import { Icon } from "./icon.js";

/** @import { EventOf } from "../core/html.js" */

/**
 * @typedef {object} Qualifier
 * @property {string} word the text before the colon
 * @property {string} parameter of the address
 * @property {boolean} [isNumber] a body has it as a number
 * @property {string[]} [values] that are suggested
 * @property {string} [help]
 * @property {(text: string) => string | null} [read] the parameter's value; null: not understood
 * @property {(value: string) => string} [write] how a value is shown
 */

/** The platform of crawls, the same qualifier in every list. @type {Qualifier} */
export const PLATFORM = {
  word: "platform",
  parameter: "platform",
  values: PLATFORMS,
  help: PLATFORMS.join(" or "),
  read: (text) => (PLATFORMS.includes(text) ? text : null),
};

/**
 * @param {object} properties
 * @param {Qualifier[]} properties.qualifiers the first one without a word typed before it is `text`
 * @param {URLSearchParams} properties.query
 * @param {string} properties.label
 * @param {string} properties.text the parameter of words without a qualifier
 * @param {string} [properties.placeholder]
 */
export function QueryBox({ qualifiers, query, label, text, placeholder }) {
  const [typed, type] = useState("");
  const [chosen, choose] = useState(0);
  const [wrong, refuse] = useState("");
  const [isOpen, open] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const set = qualifiers.filter(({ parameter }) => query.get(parameter));
  const suggestions = suggest(qualifiers, typed);

  const take = (/** @type {string} */ line) => {
    const { changes, unknown } = read(qualifiers, text, line);
    refuse(unknown);
    if (unknown) return;
    type("");
    choose(0);
    open(false);
    setQuery({ ...changes, cursor: null });
  };
  const pick = (/** @type {string} */ line) => {
    type(line);
    choose(0);
    if (!line.endsWith(":")) take(line);
    input.current?.focus();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      open(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      choose((at) => (at + step + suggestions.length + 1) % (suggestions.length + 1));
    } else if (event.key === "Enter" && chosen > 0) {
      event.preventDefault();
      pick(suggestions[chosen - 1].line);
    } else if (event.key === "Backspace" && typed === "" && set.length > 0) {
      setQuery({ [set[set.length - 1].parameter]: null, cursor: null });
    } else if (event.key === "Escape") {
      if (isOpen) open(false);
      else input.current?.blur();
    }
  };
  return html`<form class="query" role="search" aria-label=${label} onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    take(typed);
  }}>
    <span class="dim"><${Icon} name="search" /></span>
    ${set.map(
      ({ word, parameter, write }) =>
        html`<span class="chip" key=${parameter}><span>${word}:</span><b><bdi>${(write ?? String)(query.get(parameter) ?? "")}</bdi></b>
          <button type="button" aria-label=${`Remove ${word}`}
            onClick=${() => setQuery({ [parameter]: null, cursor: null })}><${Icon} name="close" /></button></span>`,
    )}
    <input ref=${input} data-key="/" aria-label=${label} value=${typed} autocomplete="off" spellcheck=${false}
      placeholder=${set.length ? "" : placeholder} role="combobox" aria-expanded=${isOpen} aria-controls="suggestions"
      aria-autocomplete="list"
      aria-activedescendant=${chosen > 0 ? `suggestion-${chosen}` : undefined} aria-invalid=${wrong ? "true" : undefined}
      aria-describedby=${wrong ? "query-wrong" : undefined}
      onInput=${(/** @type {EventOf<HTMLInputElement>} */ event) => {
        type(event.target.value);
        choose(0);
        refuse("");
        open(true);
      }} onFocus=${() => open(true)} onBlur=${() => open(false)} onKeyDown=${onKeyDown} />
    ${wrong && html`<span class="bad" id="query-wrong" role="alert">${wrong}</span>`}
    <ul class=${`suggest ${isOpen ? "is-shown" : ""}`} id="suggestions" role="listbox" aria-label="Suggestions">
      ${suggestions.map(
        ({ line, help }, at) => html`<li role="option" id=${`suggestion-${at + 1}`} key=${line} aria-selected=${chosen === at + 1}
          onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${() => pick(line)}>
          <span>${line}</span><span>${help}</span></li>`,
      )}
    </ul>
  </form>`;
}

/**
 * The current filters in their typed form; empty without any.
 * @param {Qualifier[]} qualifiers
 * @param {URLSearchParams} query
 */
export function asText(qualifiers, query) {
  const set = qualifiers.filter(({ parameter }) => query.get(parameter));
  return set.map(({ word, parameter, write }) => `${word}:${(write ?? String)(query.get(parameter) ?? "")}`).join(" ");
}

/** The values and words that begin with the last typed word. @param {Qualifier[]} qualifiers @param {string} typed */
function suggest(qualifiers, typed) {
  const last = typed.split(/\s+/).pop() ?? "";
  const before = typed.slice(0, typed.length - last.length);
  const [word, value] = last.split(":", 2);
  const qualifier = value === undefined ? undefined : qualifiers.find((each) => each.word === word);
  if (qualifier) {
    const values = (qualifier.values ?? []).filter((each) => each.startsWith(value) && each !== value);
    return values.slice(0, 9).map((each) => ({ line: `${before}${word}:${each}`, help: "" }));
  }
  return qualifiers
    .filter((each) => each.word.startsWith(last))
    .slice(0, 9)
    .map((each) => ({ line: `${before}${each.word}:`, help: each.help ?? "" }));
}

/**
 * The parameters of a line of words. A value in quotes may contain spaces.
 * @param {Qualifier[]} qualifiers
 * @param {string} text
 * @param {string} line
 * @returns {{ changes: Record<string, string>, unknown: string }}
 */
export function read(qualifiers, text, line) {
  /** @type {Record<string, string>} */
  const changes = {};
  const words = [];
  for (const part of line.match(/[a-z_]+:"[^"]*"|\S+/g) ?? []) {
    const colon = part.indexOf(":");
    const qualifier = colon > 0 ? qualifiers.find(({ word }) => word === part.slice(0, colon)) : undefined;
    if (!qualifier) {
      words.push(part);
      continue;
    }
    const given = part.slice(colon + 1).replace(/^"|"$/g, "");
    const value = qualifier.read ? qualifier.read(given) : given;
    if (value === null || value === "") return { changes: {}, unknown: `${part}: ${qualifier.help ?? "not understood"}` };
    changes[qualifier.parameter] = value;
  }
  if (words.length) changes[text] = words.join(" ");
  return { changes, unknown: "" };
}
