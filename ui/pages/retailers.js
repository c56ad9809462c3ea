// @ts-check
// Retailers: shops with menus on several platforms, and the pairs of stores that a person decides about.

import { pathOf, send } from "../core/api.js";
import { pick } from "../core/base.js";
import { count, plural } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { confirm } from "../parts/dialog.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { filtersOf, QueryBox, readState } from "../parts/query-box.js";
import { RowAction } from "../parts/row-action.js";
import { Pager } from "../parts/rows.js";
import { act } from "../parts/toast.js";
import { StoreLine } from "./retailers/store-line.js";

/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { Retailer, RetailerMatch, RetailerProposal } from "../types/api" */
/** @import { Data } from "../types/requests" */

/** @type {Qualifier[]} */
const QUALIFIERS = [{ word: "state", parameter: "state", help: "two letters, such as AZ", read: readState }];
const PARAMETERS = /** @type {const} */ (["state", "q", "cursor"]);

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["cursor"]);
  const asked = pick(filters.query, PARAMETERS);
  const answer = useResource(pathOf("/api/retailers", { ...asked, limit: 50 }), { topics: ["rollups"], gap: 30_000 });
  const proposals = useResource(pathOf("/api/retailer-proposals", { limit: 20 }), { topics: ["rollups"], gap: 30_000 });
  usePage("Retailers", answer, proposals);
  return html`<${PageHead} title="Retailers" scope="shops with menus on several platforms">
      ${may("operator") && html`<button class="btn" type="button" onClick=${compare}>Compare now</button>`}
    </${PageHead}>
    <${Proposals} of=${proposals} />
    <${QueryBox} filters=${filters} label="Filter retailers" text="q" placeholder="state:AZ fern" />
    <${Panel} title="Retailers" scope=${asked.q || asked.state ? "that match" : "all"}>
      <${Loaded} of=${answer} what="The list of retailers">${(/** @type {Data<typeof answer>} */ { retailers, next_cursor: next }) =>
        retailers.length === 0
          ? html`<${Empty} icon="search" title="No retailer to show">
              <p>Stores are compared after each refresh of the analytics. A store without menus elsewhere has no retailer.</p></${Empty}>`
          : html`<table class="table fold"><thead><tr><th>Retailer</th><th>State</th><th class="w-third">Stores</th></tr></thead>
                <tbody>${retailers.map((of) => html`<${Row} key=${of.id} of=${of} />`)}</tbody></table>
              <${Pager} query=${query} next=${next}>${plural(retailers.length, "retailer")} on this page</${Pager}>`}</${Loaded}>
    </${Panel}>`;
}

const compare = () => act(() => send("POST", pathOf("/api/retailers/match"), {}), matchedText);

/** @param {RetailerMatch} answer */
const matchedText = ({ retailers, joined, proposals }) =>
  `New retailers: ${count(retailers)}, stores joined: ${count(joined)}, to decide: ${count(proposals)}`;

/** @param {{ of: import("../core/resource.js").Answer<{ proposals: RetailerProposal[], next_cursor?: string | null }> }} properties */
function Proposals({ of }) {
  if (of.data?.proposals.length === 0) return null;
  return html`<${Panel} title="To decide" scope="pairs of stores that may be one retailer, the strongest first">
    <${Loaded} of=${of} what="The list of pairs">${(/** @type {Data<typeof of>} */ { proposals, next_cursor: next }) => html`
      <table class="table fold"><thead><tr><th class="w-third">Stores</th><th class="w-third">Evidence</th>
        <th class="num"><span class="sr">Actions</span></th></tr></thead>
        <tbody>${proposals.map((pair) => html`<${Pair} key=${pair.rank} of=${pair} />`)}</tbody></table>
      ${next && html`<p class="panel-foot">The first ${proposals.length}: more follow once these are decided.</p>`}`}</${Loaded}>
  </${Panel}>`;
}

/** @param {{ of: RetailerProposal }} properties */
function Pair({ of }) {
  const stores = of.stores.map(({ id }) => id);
  const names = of.stores.map(({ name }) => name).join(" and ");
  const decide = (/** @type {boolean} */ isSame) => {
    const said = isSame ? `${names} are one retailer` : `${names} stay apart`;
    return act(() => send("POST", pathOf("/api/retailer-decisions"), { stores, is_same: isSame }), said);
  };
  return html`<tr data-row>
    <th scope="row" class="key wrap">${of.stores.map((store) => html`<${StoreLine} key=${store.id} of=${store} />`)}</th>
    <td class="line soft wrap">${of.evidence.join("; ")}</td>
    <td class="num line">${may("operator") && html`<span class="row">
      <${RowAction} action="Same" of=${names} onClick=${() => decide(true)} />
      <${RowAction} action="Different" of=${names} onClick=${() => decide(false)} /></span>`}</td>
  </tr>`;
}

const Row = memo((/** @type {{ of: Retailer }} */ { of }) => {
  const takeOut = async (/** @type {number} */ id, /** @type {string} */ name) => {
    const isSure = await confirm({
      title: `Take ${name} out of ${of.name}?`,
      body: html`<p>Later comparisons do not join it with the other stores again.</p>`,
      action: "Take out",
    });
    if (isSure) await act(() => send("DELETE", pathOf("/api/stores/{id}/retailer", { id })), `${name} is out of ${of.name}`);
  };
  return html`<tr data-row>
    <th scope="row" class="key wrap"><bdi>${of.name}</bdi><br /><span class="scope">retailer ${of.id}</span></th>
    <td class="fact">${of.state}</td>
    <td class="line wrap">${of.stores.map((store) => html`<${StoreLine} key=${store.id} of=${store}>
      ${may("operator") && html`<${RowAction} action="Take out" of=${store.name} onClick=${() => takeOut(store.id, store.name)} />`}</${StoreLine}>`)}</td>
  </tr>`;
});
