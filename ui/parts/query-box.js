// @ts-check
// Filters as words in one box: `status:failed retries:>1 refused`. In: the qualifiers of a list, and the page's
// address. Out: the filters that are understood, a line for each that is not, and parameters of the address.

import { html, useEffect, useRef, useState } from "../core/html.js";
import { setQuery } from "../core/router.js";
import { PLATFORMS } from "../core/vocabulary.js";
import { Icon } from "./icon.js";
import { SavedViews } from "./saved-views.js";

/** @import { EventOf } from "../core/html.js" */

/**
 * @typedef {object} Qualifier
 * @property {string} word the text before the colon
 * @property {string} parameter of the address
 * @property {"number" | "boolean"} [type] of its value in a body; without one, a text
 * @property {string[]} [values] that are suggested; without `read`, no others are possible
 * @property {boolean} [isOpen] others are possible, too
 * @property {string} [help]
 * @property {(text: string, signal: AbortSignal) => Promise<Suggestion[]>} [find] values for a typed text, which are suggested
 * @property {(text: string) => string | null} [read] the parameter's value; null: not understood
 * @property {(value: string) => string} [write] how a value is shown
 * @property {(value: string) => boolean} [accepts] whether a value in the address is understood, where `read` does not say it
 */

/** @typedef {{ line: string, help: string }} Suggestion a word or a value, and what it means */

/**
 * The filters of a list, as its address has them.
 * @typedef {object} Filters
 * @property {Qualifier[]} qualifiers
 * @property {URLSearchParams} query the understood part of the address
 * @property {Fault[]} faults of the rest
 */
/** @typedef {{ name: string, text: string }} Fault the parameter of the address, and the sentence for the reader */

/** The platform of crawls, the same qualifier in every list. @type {Qualifier} */
export const PLATFORM = {
  word: "platform",
  parameter: "platform",
  values: PLATFORMS,
  help: PLATFORMS.join(" or "),
  read: (text) => (PLATFORMS.includes(text) ? text : null),
};

/** A day, or a time, for `read`. @param {string} text */
export function readTime(text) {
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** Two letters, for `read`. @param {string} text */
export const readState = (text) => (/^[a-z]{2}$/i.test(text) ? text.toUpperCase() : null);

/** An id, for `read`. @param {string} text */
export const readId = (text) => (/^\d{1,18}$/.test(text) ? text : null);

/**
 * Reads the filters of an address. A filter may have the name of its word, too.
 * @param {Qualifier[]} qualifiers
 * @param {URLSearchParams} query
 * @param {readonly string[]} others parameters of the page that are no filters
 * @param {readonly string[]} [orders] the possible values of `sort`
 * @returns {Filters}
 */
export function filtersOf(qualifiers, query, others, orders) {
  const understood = new URLSearchParams();
  /** @type {Fault[]} */
  const faults = [];
  for (const [name, value] of query) {
    const qualifier = qualifiers.find(({ parameter }) => parameter === name);
    const named = qualifier ?? qualifiers.find(({ word }) => word === name);
    if (value === "") continue;
    if (named) {
      const meant = qualifier ? (isKnown(qualifier, value) ? value : null) : valueOf(named, value);
      if (meant === null) faults.push({ name, text: `${wrongValue(named, value)} ${LEFT_OUT}` });
      else understood.set(named.parameter, meant);
    } else if (name === "sort" && orders && !orders.includes(value)) {
      const text = `sort=${value} is not understood. Possible: ${orders.filter(Boolean).join(", ")}. Meanwhile the list has its usual order.`;
      faults.push({ name, text });
    } else if (name === "sort" ? orders : others.includes(name)) understood.set(name, value);
    else faults.push({ name, text: `${wrongWord(qualifiers, name, `${name}=${value}`)} ${LEFT_OUT}` });
  }
  return { qualifiers, query: understood, faults };
}

const LEFT_OUT = "Meanwhile the list is shown without it.";

/** @param {Qualifier} qualifier @param {string} value of the address */
function isKnown({ accepts, read, write, values, isOpen }, value) {
  if (accepts) return accepts(value);
  if (read) return write ? read(write(value)) === value : read(value) !== null;
  return !values || isOpen || values.includes(value);
}

/** The parameter's value of a typed one; null: not understood. @param {Qualifier} qualifier @param {string} text */
function valueOf({ read, values, isOpen }, text) {
  if (read) return read(text) || null;
  return text === "" || (values && !isOpen && !values.includes(text)) ? null : text;
}

/** @param {Qualifier} qualifier @param {string} value */
function wrongValue({ word, read, values, help }, value) {
  const possible = (read && help) || values?.join(", ") || help || "a text";
  return `${word}:${value} is not understood. Possible: ${possible}.`;
}

/** @param {Qualifier[]} qualifiers @param {string} word @param {string} given */
const wrongWord = (qualifiers, word, given) =>
  `${given} is not understood: no filter is named ${word}. Possible: ${qualifiers.map((each) => `${each.word}:`).join(", ")}.`;

/**
 * @param {object} properties
 * @param {Filters} properties.filters
 * @param {string} properties.label
 * @param {string} properties.text the parameter of words without a qualifier
 * @param {string} [properties.placeholder]
 */
export function QueryBox({ filters, label, text, placeholder }) {
  const { qualifiers, query, faults } = filters;
  const [typed, type] = useState("");
  const [chosen, choose] = useState(0);
  const [wrong, refuse] = useState("");
  const [isOpen, open] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const set = qualifiers.filter(({ parameter }) => query.get(parameter));
  const found = useFound(qualifiers, typed);
  const suggestions = suggest(qualifiers, typed, found);
  const isShown = isOpen && suggestions.length > 0;

  const take = (/** @type {string} */ line) => {
    const { changes, unknown } = read(qualifiers, text, line);
    refuse(unknown);
    open(false);
    if (unknown) return;
    type("");
    choose(0);
    setQuery({ ...changes, cursor: null });
  };
  const pick = (/** @type {string} */ line) => {
    type(line);
    choose(0);
    if (!line.endsWith(":")) take(line);
    input.current?.focus();
  };
  const remove = (/** @type {Qualifier} */ { parameter, word }) => setQuery({ [parameter]: null, [word]: null, cursor: null });
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
      remove(set[set.length - 1]);
    } else if (event.key === "Escape") {
      if (isShown) open(false);
      else input.current?.blur();
    }
  };
  return html`<div class="filter"><form class="query" role="search" aria-label=${label} onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    take(typed);
  }}>
    <span class="dim"><${Icon} name="search" /></span>
    ${set.map((each) => html`<span class="chip" key=${each.parameter}><span>${each.word}:</span><b><bdi>${shown(each, query)}</bdi></b>
      <button type="button" aria-label=${`Remove ${each.word}`} onClick=${() => remove(each)}><${Icon} name="close" /></button></span>`)}
    <input ref=${input} data-key="/" aria-label=${label} value=${typed} autocomplete="off" spellcheck=${false}
      placeholder=${set.length ? "" : placeholder} role="combobox" aria-expanded=${isShown} aria-controls="suggestions"
      aria-autocomplete="list"
      aria-activedescendant=${chosen > 0 ? `suggestion-${chosen}` : undefined} aria-invalid=${wrong ? "true" : undefined}
      aria-describedby=${wrong ? "query-wrong" : undefined}
      onInput=${(/** @type {EventOf<HTMLInputElement>} */ event) => {
        type(event.target.value);
        choose(0);
        refuse("");
        open(true);
      }} onFocus=${() => open(true)} onBlur=${() => open(false)} onKeyDown=${onKeyDown} />
    <kbd class="not-phone" aria-hidden="true">/</kbd>
    <ul class=${`suggest ${isShown ? "is-shown" : ""}`} id="suggestions" role="listbox" aria-label="Suggestions">
      ${suggestions.map(
        ({ line, help }, at) => html`<li role="option" id=${`suggestion-${at + 1}`} key=${line} aria-selected=${chosen === at + 1}
          onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${() => pick(line)}>
          <span>${line}</span><span>${help}</span></li>`,
      )}
    </ul>
  </form>
  ${wrong && html`<p class="filter-note bad" id="query-wrong" role="alert"><${Icon} name="warn" /><span>${wrong}</span></p>`}
  ${faults.map(({ name, text: fault }) => html`<p class="filter-note" role="status" key=${name}><${Icon} name="warn" /><span>${fault}</span>
    <button class="btn small" type="button" onClick=${() => setQuery({ [name]: null })}>Remove<span class="sr"> ${name}</span></button></p>`)}
  <${SavedViews} text=${asText(filters)} />
  </div>`;
}

/** @param {Qualifier} qualifier @param {URLSearchParams} query */
const shown = ({ write, parameter }, query) => (write ?? String)(query.get(parameter) ?? "");

/** The current filters in their typed form; empty without any. @param {Filters} filters */
export function asText({ qualifiers, query }) {
  const set = qualifiers.filter(({ parameter }) => query.get(parameter));
  return set.map((each) => `${each.word}:${shown(each, query)}`).join(" ");
}

/** The current filters as a body has them, by their parameters. @param {Filters} filters */
export function asBody({ qualifiers, query }) {
  const set = qualifiers.flatMap(({ parameter, type }) => {
    const value = query.get(parameter);
    if (!value) return [];
    return [[parameter, type === "number" ? Number(value) : type === "boolean" ? value === "true" : value]];
  });
  return Object.fromEntries(set);
}

/** Pause after the last key, before the server is asked. */
const PAUSE_MS = 200;

/** The values that the server finds for the last typed word. @param {Qualifier[]} qualifiers @param {string} typed */
function useFound(qualifiers, typed) {
  const [found, show] = useState(/** @type {Suggestion[]} */ ([]));
  const { qualifier, value } = lastOf(qualifiers, typed);
  useEffect(() => {
    show([]);
    const find = qualifier?.find;
    if (!find || !value) return undefined;
    const control = new AbortController();
    const timer = setTimeout(() => {
      find(value, control.signal).then((all) => !control.signal.aborted && show(all), () => {});
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [qualifier?.word, value]);
  return found;
}

/** The last typed word: the text before it, and its qualifier where it has one. @param {Qualifier[]} qualifiers @param {string} typed */
function lastOf(qualifiers, typed) {
  const last = /(?:[a-z_]+:"[^"]*|\S*)$/i.exec(typed)?.[0] ?? "";
  const before = typed.slice(0, typed.length - last.length);
  const [word, value] = last.split(":", 2);
  const qualifier = value === undefined ? undefined : qualifiers.find((each) => each.word === word);
  return { last, before, word, value: value?.replace(/^"/, ""), qualifier };
}

/**
 * The values and words that begin with the last typed word, and the values that were found for it.
 * @param {Qualifier[]} qualifiers
 * @param {string} typed
 * @param {Suggestion[]} found
 * @returns {Suggestion[]}
 */
function suggest(qualifiers, typed, found) {
  const { last, before, word, value = "", qualifier } = lastOf(qualifiers, typed);
  if (qualifier?.find) return found.map(({ line, help }) => ({ line: `${before}${word}:${line}`, help }));
  if (qualifier) {
    const values = (qualifier.values ?? []).filter((each) => each.startsWith(value) && each !== value);
    return values.slice(0, 9).map((each) => ({ line: `${before}${word}:${each}`, help: "" }));
  }
  return qualifiers
    .filter((each) => each.word.startsWith(last))
    .slice(0, 9)
    .map((each) => ({ line: `${before}${each.word}:`, help: each.help ?? each.values?.join(", ") ?? "" }));
}

/**
 * The parameters of a line of words. A value in quotes may contain spaces; a text in quotes is no filter.
 * @param {Qualifier[]} qualifiers
 * @param {string} text
 * @param {string} line
 * @returns {{ changes: Record<string, string>, unknown: string }}
 */
export function read(qualifiers, text, line) {
  /** @type {Record<string, string>} */
  const changes = {};
  const words = [];
  for (const part of line.match(/[a-z_]+:"[^"]*"|"[^"]+"|\S+/gi) ?? []) {
    // the rest of an address such as https://menus.example is no value
    const [, word, rest] = /^([a-z_]+):(?!\/\/)(.*)$/i.exec(part) ?? [];
    if (word === undefined) {
      words.push(part.replace(/^"|"$/g, ""));
      continue;
    }
    const given = rest.replace(/^"|"$/g, "");
    const qualifier = qualifiers.find((each) => each.word === word.toLowerCase());
    if (!qualifier) return { changes: {}, unknown: `${wrongWord(qualifiers, word, part)} As a text, write "${part}". ${AS_BEFORE}` };
    const value = valueOf(qualifier, given);
    if (value === null) return { changes: {}, unknown: `${wrongValue(qualifier, given)} ${AS_BEFORE}` };
    changes[qualifier.parameter] = value;
  }
  if (words.length) changes[text] = words.join(" ");
  return { changes, unknown: "" };
}

const AS_BEFORE = "Meanwhile the list stays as it is.";
