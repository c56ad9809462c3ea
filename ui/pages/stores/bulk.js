// @ts-check
// Actions on the selected stores: crawl them now, enable or disable them, put them into a group.

import { pathOf, send } from "../../core/api.js";
import { count, plural } from "../../core/format.js";
import { html, useState } from "../../core/html.js";
import { BY_HAND } from "../../core/vocabulary.js";
import { confirm } from "../../parts/dialog.js";
import { FormDialog } from "../../parts/form.js";
import { Icon } from "../../parts/icon.js";
import { act, refusalText } from "../../parts/toast.js";

/** @import { GroupChange, StoreView } from "../../types/api" */

/** @param {{ stores: StoreView[], onDone: () => void }} properties the selected ones */
export function Bulk({ stores, onDone }) {
  const [isGrouping, group] = useState(false);
  const isNone = stores.length === 0;
  const number = count(stores.length);
  const run = async (/** @type {Promise<unknown>} */ action) => (await action) && onDone();
  return html`<div class=${`bulk ${isNone ? "is-idle" : ""}`} role="group" aria-label="Bulk actions">
      <span role="status"><b>${number}</b> selected</span>
      <div class="row actions">
        <button class="btn small primary" type="button" disabled=${isNone} onClick=${() => run(crawl(stores))}>
          <${Icon} name="retrying" />Crawl ${number} now</button>
        <button class="btn small" type="button" disabled=${isNone} onClick=${() => run(turn(stores, true))}>Enable ${number}…</button>
        <button class="btn small" type="button" disabled=${isNone} onClick=${() => run(turn(stores, false))}>Disable ${number}…</button>
        <button class="btn small" type="button" disabled=${isNone} onClick=${() => group(true)}>Group…</button></div>
    </div>
    ${isGrouping && html`<${Grouping} ids=${stores.map(({ id }) => id)} onClose=${() => group(false)} onDone=${onDone} />`}`;
}

/** @param {StoreView[]} stores */
async function crawl(stores) {
  const ready = stores.filter((store) => store.crawl_enabled && store.crawl_status !== "needs_menu_id");
  const left = stores.length - ready.length;
  const tasks = ready.map(({ id }) => ({ role: "payload_fetch", dispensary_id: id, priority: BY_HAND }));
  const others = left > 0 ? `; ${plural(left, "store")} left out, disabled or without a menu id` : "";
  if (tasks.length === 0) return act(() => Promise.resolve(true), () => ["warn", `No task was made${others}`]);
  return act(
    () => send("POST", pathOf("/api/job-queue/enqueue-batch"), { tasks }),
    ({ made, raised = 0, refused }) => {
      const text = `${plural(made, "task")} made, ${count(raised)} go first now, ${count(refused)} waited or ran already${others}`;
      return left > 0 ? ["warn", text] : text;
    },
  );
}

/** @param {StoreView[]} stores @param {boolean} isOn */
async function turn(stores, isOn) {
  const word = isOn ? "Enable" : "Disable";
  const body = isOn
    ? "The next run of their schedules makes tasks for them."
    : "Schedules make no more tasks for them until they are enabled again. Their products stay as they are.";
  const title = `${word} the crawls of ${plural(stores.length, "store")}?`;
  const isSure = await confirm({ title, body: html`<p>${body}</p>`, action: `${word} ${plural(stores.length, "store")}`, danger: !isOn });
  if (!isSure) return null;
  return act(
    () => each(stores, ({ id }) => send("PUT", pathOf("/api/stores/{id}", { id }), { crawl_enabled: isOn })),
    ({ done, refused }) => {
      const text = `${plural(done, "store")} ${isOn ? "enabled" : "disabled"}`;
      return refused.length > 0 ? ["warn", `${text}; ${count(refused.length)} refused: ${refused[0]}`] : text;
    },
  );
}

/**
 * One after the other: a store that is refused does not stop the others.
 * @param {StoreView[]} stores
 * @param {(store: StoreView) => Promise<unknown>} change
 */
async function each(stores, change) {
  let done = 0;
  /** @type {string[]} */
  const refused = [];
  for (const store of stores) {
    try {
      await change(store);
      done += 1;
    } catch (error) {
      refused.push(`${store.name}: ${refusalText(error)}`);
    }
  }
  return { done, refused };
}

/** @param {{ ids: number[], onClose: () => void, onDone: () => void }} properties */
const Grouping = ({ ids, onClose, onDone }) =>
  html`<${FormDialog} title=${`Group of ${plural(ids.length, "store")}`} action="Save" onClose=${onClose}
    done=${(/** @type {GroupChange} */ { group, added, removed, stores }) =>
      `${group} has ${plural(stores, "store")}: ${count(added)} added, ${count(removed)} removed`}
    fields=${[
      { name: "group", label: "Group", required: true, help: "letters, digits, hyphens and underscores; a new name makes a new group" },
      {
        name: "way",
        label: "The selected stores",
        type: "select",
        options: [["add", "come into the group"], ["remove", "leave the group"]],
      },
    ]}
    submit=${async (/** @type {{ group: string, way: "add" | "remove" }} */ { group, way }) => {
      const answer = await send("POST", pathOf("/api/groups/{group}/stores", { group }), { add: [], remove: [], [way]: ids });
      onDone();
      return answer;
    }} />`;
