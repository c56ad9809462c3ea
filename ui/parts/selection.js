// @ts-check
// Selected rows of a list, for actions on several at once.

import { html, useEffect, useRef, useState } from "../core/html.js";
import { count } from "../core/format.js";

/** @typedef {ReturnType<typeof useSelection>} Selection */

/**
 * The selected rows; rows of other pages and filters are not selected.
 * @param {{ id: number }[]} rows
 * @param {string} scope
 */
export function useSelection(rows, scope) {
  const [chosen, select] = useState(/** @type {Set<number>} */ (new Set()));
  const last = useRef(/** @type {number | null} */ (null));
  const shown = useRef(rows);
  shown.current = rows;
  useEffect(() => select(new Set()), [scope]);
  // one function for all rows and times, so that no row is drawn again for it
  const toggle = useRef((/** @type {number} */ id, /** @type {boolean} */ isRange) => {
    const all = shown.current.map((row) => row.id);
    const [from, to] = [all.indexOf(last.current ?? id), all.indexOf(id)].sort((a, b) => a - b);
    const range = isRange && from >= 0 ? all.slice(from, to + 1) : [id];
    last.current = id;
    select((before) => {
      const after = new Set(before);
      const isOn = !before.has(id);
      for (const each of range) isOn ? after.add(each) : after.delete(each);
      return after;
    });
  });
  // rows that have left the list are not visible, and so not changed
  const ids = new Set(rows.filter((row) => chosen.has(row.id)).map((row) => row.id));
  const isAll = rows.length > 0 && ids.size === rows.length;
  return {
    ids,
    isAll,
    toggle: toggle.current,
    toggleAll: () => select(isAll ? new Set() : new Set(rows.map((row) => row.id))),
    clear: () => select(new Set()),
  };
}

/** The head of the column of checkboxes. @param {{ of: Selection, rows: number, what: string }} properties */
export const SelectAll = ({ of, rows, what }) =>
  html`<th><input type="checkbox" aria-label=${`Select the ${count(rows)} ${what} of this page`}
    checked=${of.isAll} onChange=${of.toggleAll} /></th>`;

/** @param {{ id: number, what: string, isSelected: boolean, onSelect: Selection["toggle"] }} properties */
export const Select = ({ id, what, isSelected, onSelect }) =>
  html`<td class="pick"><label><input type="checkbox" aria-label=${`Select ${what}`} checked=${isSelected}
    onClick=${(/** @type {MouseEvent} */ event) => onSelect(id, event.shiftKey)} /></label></td>`;
