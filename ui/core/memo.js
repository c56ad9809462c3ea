// @ts-check
// Components that are drawn again only when a property is another one. Data keeps its identity while it is equal (`same.js`).

import { Component, h } from "../vendor/preact.js";

/**
 * @template P
 * @param {(properties: P) => any} draw
 * @param {(a: any, b: any) => boolean} [isSame] of two properties' values
 * @returns {(properties: P & { key?: any }) => any}
 */
export function memo(draw, isSame = Object.is) {
  class Memo extends Component {
    /** @param {any} next */
    shouldComponentUpdate(next) {
      return differ(/** @type {any} */ (this.props), next, isSame);
    }
    render() {
      return h(/** @type {any} */ (draw), /** @type {any} */ (this.props));
    }
  }
  return /** @type {any} */ (Memo);
}

/** @param {Record<string, unknown>} a @param {Record<string, unknown>} b @param {(a: any, b: any) => boolean} isSame */
function differ(a, b, isSame) {
  for (const name in a) if (!(name in b)) return true;
  for (const name in b) if (a[name] !== b[name] && !isSame(a[name], b[name])) return true;
  return false;
}
