// @ts-check
// Components that are drawn again only when a property changes. Equal data keeps its identity (`same.js`).

import { Component, h } from "../vendor/preact.js";

/** @import { ComponentChildren, ComponentClass, FunctionComponent } from "../vendor/preact.js" */
/** @typedef {(a: unknown, b: unknown) => boolean} IsSame */

/**
 * @template {object} P
 * @param {(properties: P) => ComponentChildren} draw
 * @param {IsSame} [isSame] of two properties' values
 * @returns {ComponentClass<P>}
 */
export function memo(draw, isSame = Object.is) {
  /** @extends {Component<P>} */
  class Memo extends Component {
    /** @param {Readonly<P>} next */
    shouldComponentUpdate(next) {
      return differ(this.props, next, isSame);
    }
    render() {
      return h(/** @type {FunctionComponent<P>} */ (draw), this.props);
    }
  }
  return Memo;
}

/** @template {object} P @param {P} a @param {P} b @param {IsSame} isSame */
function differ(a, b, isSame) {
  for (const name in a) if (!(name in b)) return true;
  for (const name in b) if (a[name] !== b[name] && !isSame(a[name], b[name])) return true;
  return false;
}
