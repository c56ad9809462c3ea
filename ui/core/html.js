// @ts-check
// The rendering library as one import: `html` for markup, and the hooks.

import htm from "../vendor/htm.js";
import { h, options } from "../vendor/preact.js";

export { render } from "../vendor/preact.js";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
export { memo } from "./memo.js";

/** htm would keep elements without values for ever, each with the tree that showed it first. */
const NO_CACHE = 3;

/** @this {any[]} the template, as htm has read it @param {any[]} parts */
function element(...parts) {
  this[0] = NO_CACHE;
  return h(.../** @type {[any, any]} */ (parts));
}

export const html = htm.bind(/** @type {any} */ (element));

// A component that draws itself again leaves its first element to its parent's properties, and the elements that `memo` shares between two
// trees lead from the older to the newer one: all trees since the first would be kept. So an element without a place leads nowhere.
// `__c` is the component of an element, `__k` the elements below it.
/** @type {WeakMap<object, any>} */
const current = new WeakMap();
const { diffed } = options;
options.diffed = (element) => {
  const { __c: component } = /** @type {any} */ (element);
  const last = component && current.get(component);
  if (last && last !== element) last.__k = [];
  if (component) current.set(component, element);
  diffed?.(element);
};

/** @typedef {import("../vendor/preact.js").ComponentChildren} Children */
/** @typedef {import("../vendor/preact.js").VNode<any>} VNode */
