// @ts-check
// The rendering library as one import: `html` for markup, and the hooks.

import htm from "../vendor/htm.js";
import { h, options } from "../vendor/preact.js";

/** @import { Component, ComponentChildren, ComponentType, VNode as AnyNode } from "../vendor/preact.js" */

export { render } from "../vendor/preact.js";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
export { memo } from "./memo.js";

/** @typedef {[type: ComponentType<unknown>, properties: object, ...children: ComponentChildren[]]} Parts */

/** Prevents htm from caching elements without values, each with the first tree that showed it. */
const NO_CACHE = 3;

/** @this {unknown[]} the template, as htm has read it @param {Parts} parts */
function element(...parts) {
  this[0] = NO_CACHE;
  return h(...parts);
}

// `element` sets a part of `this`, so the type checker takes it for a constructor
export const html = htm.bind(/** @type {(...parts: Parts) => VNode} */ (/** @type {unknown} */ (element)));

// A component that draws itself again leaves its first element to its parent's properties. The elements that
// `memo` shares between two trees link the older to the newer one, which would keep all trees since the
// first. So a replaced element loses its links. `__c` is the component of an element, `__k` the elements
// below it.
/** @typedef {VNode & { __c?: Component | null, __k?: unknown[] }} Inner */
/** @type {WeakMap<Component, Inner>} */
const current = new WeakMap();
const { diffed } = options;
options.diffed = (/** @type {Inner} */ element) => {
  const component = element.__c;
  const last = component && current.get(component);
  if (last && last !== element) last.__k = [];
  if (component) current.set(component, element);
  diffed?.(element);
};

/** Content of a component. @typedef {ComponentChildren} Children */
/** @typedef {AnyNode} VNode */
/**
 * An event of an element that a page listens to.
 * @template {EventTarget} T
 * @typedef {Event & { target: T }} EventOf
 */
