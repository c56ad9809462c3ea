// @ts-check
// Actions on the selected stores, or on all that match: crawl them now, enable or disable them, put them into a group.

import { pathOf, send } from "../../core/api.js";
import { count, plural } from "../../core/format.js";
import { html, useEffect, useState } from "../../core/html.js";
import { BulkBar } from "../../parts/bulk-bar.js";
import { confirm } from "../../parts/dialog.js";
import { FormDialog } from "../../parts/form.js";
import { Icon } from "../../parts/icon.js";
import { asBody, asText } from "../../parts/query-box.js";
import { act, refusalText, toast } from "../../parts/toast.js";

/** @import { Filters } from "../../parts/query-box.js" */
/** @import { StoreAction, StoreBulkAnswer as Answer } from "../../types/api" */
/** @import { BodyOf } from "../../types/requests" */
/**
 * The stores that a change is for.
 * @typedef {Pick<BodyOf<"/api/stores/bulk", "POST">, "ids" | "filter">} Target
 */

/**
 * @param {object} properties
 * @param {Set<number>} properties.selected
 * @param {number} properties.total number of stores that match
 * @param {Filters} properties.filters
 * @param {() => void} properties.onDone
 */
export function Bulk({ selected, total, filters, onDone }) {
  const [isAll, takeAll] = useState(false);
  const [isGrouping, group] = useState(false);
  useEffect(() => takeAll(false), [filters.query.toString(), selected.size === 0]);
  const filterText = asText(filters);
  /** @type {Target} */
  const target = isAll ? { filter: /** @type {Target["filter"]} */ (asBody(filters)) } : { ids: [...selected] };
  const isNone = isAll ? total === 0 : selected.size === 0;
  const number = isNone ? "" : ` ${count(isAll ? total : selected.size)}`;
  const which = isAll ? filterText || "every store" : "";
  const done = () => {
    takeAll(false);
    onDone();
  };
  const run = async (/** @type {Promise<unknown>} */ action) => (await action) && done();
  const button = (/** @type {string} */ text, /** @type {() => unknown} */ onClick) =>
    html`<button class="btn small" type="button" disabled=${isNone} onClick=${onClick}>${text}</button>`;
  return html`<${BulkBar} selected=${selected.size} isAll=${isAll} onTake=${takeAll} total=${total} filterText=${filterText}>
      <button class="btn small primary" type="button" disabled=${isNone} onClick=${() => run(crawl(target, which))}>
        <${Icon} name="retrying" />Crawl${number} now${isAll && "…"}</button>
      ${button(`Enable${number}…`, () => run(turn(target, true, which)))}
      ${button(`Disable${number}…`, () => run(turn(target, false, which)))}
      ${button("Group…", () => group(true))}
    </${BulkBar}>
    ${isGrouping && html`<${Grouping} target=${target} number=${isAll ? total : selected.size} onClose=${() => group(false)}
      onDone=${done} />`}`;
}

/** @param {StoreAction} action @param {Target} target @param {{ dry_run?: boolean, group?: string }} [more] */
const change = (action, target, more = {}) =>
  send("POST", pathOf("/api/stores/bulk"), { action, dry_run: false, ...target, ...more });

/** The counted stores; null: none can be changed, and that was reported. @param {StoreAction} action @param {Target} target */
async function counted(action, target) {
  try {
    const answer = await change(action, target, { dry_run: true });
    if (answer.eligible > 0) return answer;
    toast("warn", `${plural(answer.matched, "store")} ${answer.matched === 1 ? "matches" : "match"}: ${LEFT[action]}`);
  } catch (error) {
    toast("bad", refusalText(error));
  }
  return null;
}

/** Why no store of them, or the rest of them, is changed. @type {Record<string, string>} */
const LEFT = {
  crawl: "disabled or without a menu id",
  enable: "enabled already",
  disable: "disabled already",
};

/** `4 match state:AZ, 2 of them will change: 2 are enabled already.` @param {Answer} answer @param {StoreAction} action @param {string} which */
function countText({ matched, eligible }, action, which) {
  const are = which ? html`match <span class="mono">${which}</span>` : "are selected";
  const left = matched - eligible;
  return html`<p>${count(matched)} ${are}${left > 0 && `; ${count(left)} ${left === 1 ? "is" : "are"} left out: ${LEFT[action]}`}.</p>`;
}

/** The selected ones without a question: a crawl changes nothing else. @param {Target} target @param {string} which empty for a selection */
async function crawl(target, which) {
  if (which) {
    const answer = await counted("crawl", target);
    if (!answer) return null;
    const stores = plural(answer.eligible, "store");
    const body = html`${countText(answer, "crawl", which)}<p>Each gets a task with a higher priority than those of schedules.</p>`;
    if (!(await confirm({ title: `Crawl ${stores} now?`, body, action: `Crawl ${stores}` }))) return null;
  }
  return act(
    () => change("crawl", target),
    ({ matched, eligible, done, raised }) => {
      const left = matched - eligible;
      const others = left > 0 ? `; ${plural(left, "store")} left out, ${LEFT.crawl}` : "";
      const waited = eligible - done - raised;
      const text = `${plural(done, "task")} made, ${count(raised)} go first now, ${count(waited)} waited or ran already${others}`;
      return left > 0 ? ["warn", text] : text;
    },
  );
}

/** @param {Target} target @param {boolean} isOn @param {string} which empty for a selection */
async function turn(target, isOn, which) {
  const action = isOn ? "enable" : "disable";
  const answer = await counted(action, target);
  if (!answer) return null;
  const word = isOn ? "Enable" : "Disable";
  const stores = plural(answer.eligible, "store");
  const more = isOn
    ? "The next run of their schedules creates tasks for them."
    : "Schedules create no more tasks for them until they are enabled again. Their products stay as they are.";
  const body = html`${countText(answer, action, which)}<p>${more}</p>`;
  if (!(await confirm({ title: `${word} the crawls of ${stores}?`, body, action: `${word} ${stores}`, danger: !isOn }))) return null;
  return act(() => change(action, target), ({ done }) => `${plural(done, "store")} ${isOn ? "enabled" : "disabled"}`);
}

/** @param {{ target: Target, number: number, onClose: () => void, onDone: () => void }} properties */
const Grouping = ({ target, number, onClose, onDone }) =>
  html`<${FormDialog} title=${`Group of ${plural(number, "store")}`} action="Save" onClose=${onClose}
    done=${(/** @type {Answer} */ { matched, done }) =>
      `${plural(done, "store")} changed${matched > done ? `, ${count(matched - done)} needed no change, or are in too many groups` : ""}`}
    fields=${[
      { name: "group", label: "Group", required: true, help: "letters, digits, hyphens and underscores; a new name creates a new group" },
      {
        name: "way",
        label: target.ids ? "The selected stores" : "All stores that match",
        type: "select",
        options: [["add_to_group", "add to the group"], ["remove_from_group", "remove from the group"]],
      },
    ]}
    submit=${async (/** @type {{ group: string, way: StoreAction }} */ { group, way }) => {
      const answer = await change(way, target, { group });
      onDone();
      return answer;
    }} />`;
