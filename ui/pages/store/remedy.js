// @ts-check
// Above a store whose crawls need a person: why, and the remedy.

import { pathOf, send } from "../../core/api.js";
import { link } from "../../core/base.js";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { may } from "../../core/session.js";
import { EMPTY_MENUS } from "../../core/vocabulary.js";
import { confirm } from "../../parts/dialog.js";
import { Icon } from "../../parts/icon.js";
import { Ago, Until } from "../../parts/time.js";
import { act } from "../../parts/toast.js";
import { EditButton } from "./edit.js";

/** @import { StoreView, SuspiciousAnswer } from "../../types/api" */

/** @param {{ of: StoreView }} properties */
export const Remedy = ({ of }) => html`<${Crawls} of=${of} />${of.suspicious.map((answer) =>
  html`<${Suspicious} key=${answer.kind} of=${of} answer=${answer} />`)}`;

/** @param {{ of: StoreView }} properties */
function Crawls({ of }) {
  if (!of.crawl_enabled) return null;
  if (of.crawl_status === "needs_menu_id") return html`<${LookUp} of=${of} />`;
  const why = whyOf(of);
  if (!why) return null;
  return html`<p class="banner" role="status"><${Icon} name="warn" /><span>${why}</span>
    <${EditButton} of=${of} kind="small" />
    ${may("operator") && of.empty_menus > 0 && html` <button class="btn small" type="button"
      onClick=${() => acceptEmpty(of)}>Accept the empty menu…</button>`}</p>`;
}

/** Why its crawls need a person; null: they do not. @param {StoreView} store */
function whyOf({ crawl_status: status, empty_menus: menus, products }) {
  if (status === "empty_menu") return "The last three crawls found an empty menu. If the store's menu has products, its id at the platform is wrong.";
  if (menus > 0) {
    const kept = products > 0 ? "Its products stay as they are." : "No menu was kept.";
    return `${menus} of ${EMPTY_MENUS} crawls in a row found an empty menu. ${kept} If the menu has products, correct the store's id; if not, accept the empty menu.`;
  }
  if (status === "never_crawled") return "No menu of this store has been kept yet.";
  return null;
}

/** An answer that is not believed yet, and the way to accept it. @param {{ of: StoreView, answer: SuspiciousAnswer }} properties */
function Suspicious({ of, answer }) {
  const { is_accepted: isAccepted, seen_at: at } = answer;
  const next = isAccepted
    ? "It is accepted: the next answer that says the same is believed."
    : "It is believed once enough answers agree, or at once if you accept it.";
  return html`<p class="banner" role="status"><${Icon} name="warn" /><span>${changeText(answer)}, as seen <${Ago} at=${at} after="ago" />. ${next}</span>
    ${may("operator") && !isAccepted && html` <button class="btn small" type="button" onClick=${() => accept(of, answer)}>Accept…</button>`}</p>`;
}

/** @param {SuspiciousAnswer} answer */
const changeText = ({ kind, switched, covered }) =>
  kind === "products"
    ? `Its latest menu would put ${count(switched)} of ${plural(covered, "product")} out of stock at once`
    : `The latest discovery would close ${count(switched)} of ${plural(covered, "store")} at once`;

/** @param {StoreView} store @param {SuspiciousAnswer} answer */
async function accept({ id, name }, answer) {
  const yes = await confirm({
    title: "Accept this answer?",
    body: html`<p><bdi>${name}</bdi>: ${changeText(answer)}.</p><p>The next answer that says the same is believed.</p>`,
    action: "Accept",
    danger: true,
  });
  if (!yes) return;
  await act(() => send("POST", pathOf("/api/stores/{id}/accept", { id }), {}), `The next answer that says the same about ${name} is believed.`);
}

/** Why the id at the platform is not known, and when it is looked up next. @param {{ of: StoreView }} properties */
function LookUp({ of }) {
  const task = of.lookup_task_id && html` <a class="link" href=${link(`/admin/tasks/${of.lookup_task_id}`)}>Show its task</a>.`;
  const next = of.lookup_next_at
    ? html` Next try <${Until} at=${of.lookup_next_at} />.`
    : html` It is not tried again by itself: correct the slug, the menu's address or the id, or retry its task.`;
  return html`<p class="banner" role="status"><${Icon} name="warn" />
    <span>The store's id at the platform is not known, so it cannot be crawled.
      ${of.lookup_error && html` Its look-up failed: <bdi>${of.lookup_error}</bdi>.`}${next}${task}</span>
    <${EditButton} of=${of} kind="small" /></p>`;
}

/** @param {StoreView} store */
async function acceptEmpty({ id, name }) {
  const yes = await confirm({
    title: "Accept the empty menu of 1 store?",
    body: html`<p><bdi>${name}</bdi></p><p>The next crawl keeps the empty menu. After three crawls, its products are sold out.</p>`,
    action: "Accept the empty menu",
    danger: true,
  });
  if (!yes) return;
  await act(() => send("POST", pathOf("/api/stores/{id}/accept-empty", { id }), {}), `The empty menu of ${name} is accepted.`);
}
