// @ts-check
// Items: what media jobs found, whether each was downloaded, and its file, with a preview of a picture.

import { pathOf } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { bytes, count, duration, plural } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { imageAddress, StoredImage } from "../parts/image.js";
import { usePage } from "../parts/page.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { filtersOf, QueryBox, readId } from "../parts/query-box.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { AGES, ageText, headsOf } from "../parts/sort.js";
import { Status } from "../parts/status.js";
import { Ago } from "../parts/time.js";

/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { ItemView } from "../types/api" */
/** @import { Data } from "../types/requests" */

/** Class, icon and word. @type {Record<string, [string, string, string]>} */
const STATES = {
  known: ["pending", "pending", "Known"],
  downloaded: ["done", "done", "Downloaded"],
  gone: ["off", "off", "Gone"],
  refused: ["retrying", "warn", "Refused"],
  failed: ["failed", "failed", "Failed"],
};
/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "state", parameter: "state", values: Object.keys(STATES) },
  { word: "source", parameter: "source", values: ["youtube", "easynews"], isOpen: true, help: "youtube, easynews, a forum's name, or a site" },
  { word: "account", parameter: "account_id", help: "an account's id", read: readId },
];
/** Side of the square of a preview, in pixels, and of the picture that it opens, in dots. */
const PREVIEW = 40;
const WHOLE = 2000;
const PARAMETERS = /** @type {const} */ (["state", "source", "account_id", "sort", "cursor"]);

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["cursor"], AGES);
  const path = pathOf("/api/media/items", { ...pick(filters.query, PARAMETERS), limit: 50 });
  const answer = useResource(path, { topics: ["task", "rollups"], gap: 5_000 });
  const steady = useSteadyRows(answer.data?.items ?? [], (item) => item.id, path);
  usePage("Items", answer);
  const isFiltered = QUALIFIERS.some(({ parameter }) => filters.query.get(parameter));
  const head = headsOf(query, AGES[0]);
  return html`<${PageHead} title="Items" scope=${`what media jobs found, ${ageText(filters.query)}`} />
    <${QueryBox} filters=${filters} label="Filter items" text="source" placeholder="state:failed source:youtube" />
    <${Panel} title="Media items" scope=${isFiltered ? "that match" : "all"}>
      <${Loaded} of=${answer} what="The list of items">${(/** @type {Data<typeof answer>} */ data) =>
        steady.rows.length === 0
          ? html`<${Empty} icon=${isFiltered ? "search" : "pending"} title=${isFiltered ? "No item matches" : "No item has been found yet"}>
              ${isFiltered
                ? html`<a class="btn" href=${link("/admin/items")}>Show all</a>`
                : html`<p>Media jobs find them at <a class="link" href=${link("/admin/media")}>accounts, channels, searches and threads</a>.</p>`}</${Empty}>`
          : html`<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />${head.select}<table class="table fold">
                <thead><tr><th scope="col" class="w-third">Item</th><th scope="col">State</th><th scope="col">Source</th>
                  <th scope="col" class="w-third">File</th><th scope="col" class="num">Size</th>${head("Found", AGES, "num")}</tr></thead>
                <tbody>${steady.rows.map((item) => html`<${Row} key=${item.id} item=${item} />`)}</tbody>
              </table></div>
              <${Pager} query=${query} next=${data.next_cursor}>${plural(steady.rows.length, "item")} on this page</${Pager}>`}</${Loaded}>
    </${Panel}>`;
}

const Row = memo((/** @type {{ item: ItemView }} */ { item }) => {
  const [kind, icon, word] = STATES[item.state] ?? ["", "dot", item.state];
  return html`<tr data-row>
    <th scope="row" class="key wrap"><${Preview} of=${item} /><${Title} of=${item} /><br />
      <span class="scope"><bdi>${item.source_id}</bdi>${item.posted_at && html`, posted <${Ago} at=${item.posted_at} after="ago" />`}</span></th>
    <td class="end"><${Status} kind=${kind} icon=${icon} word=${word} /></td>
    <td class="fact"><a href=${link("/admin/items", { source: item.source })}><bdi>${item.source}</bdi></a><${Account} id=${item.account_id} /></td>
    <td class="line"><${File} of=${item} /></td>
    <td class="num fact" data-l="size">${bytes(item.bytes)}</td>
    <td class="num fact" data-l="found"><${Ago} at=${item.created_at} after="ago" /></td>
  </tr>`;
});

/** @param {{ id: ItemView["account_id"] }} properties */
function Account({ id }) {
  if (typeof id !== "number") return null;
  return html`, <a class="scope" href=${link("/admin/items", { account_id: id })}>account ${id}</a>`;
}

/** A click opens the larger picture. @param {{ of: ItemView }} properties */
function Preview({ of: { local_image_path: path, title, source_id: id } }) {
  if (!path) return null;
  const image = html`<${StoredImage} path=${path} size=${PREVIEW} alt=${`Picture: ${title || id}`} />`;
  return html`<a class="preview" href=${imageAddress(path, WHOLE)} target="_blank" rel="noopener">${image}</a>`;
}

/** Makes a link only of an address that a browser opens as a page: it came from strangers. @param {{ of: ItemView }} properties */
function Title({ of: { title, url } }) {
  const text = html`<bdi>${title || url}</bdi>`;
  return /^https?:\/\//i.test(url) ? html`<a href=${url} target="_blank" rel="noreferrer noopener">${text}</a>` : text;
}

/** @param {{ of: ItemView }} properties */
function File({ of: item }) {
  const failure = item.last_error &&
    html`<span class="wrap bad">${item.last_error}${item.attempts > 1 && ` (${plural(item.attempts, "attempt")})`}</span>`;
  if (!item.path) return failure || null;
  return html`${factsOf(item)}<br /><bdi class="scope mono wrap">${item.path}</bdi>${failure && html`<br />${failure}`}`;
}

/** `image/jpeg, 640 × 480`. @param {ItemView} item */
function factsOf({ media_type: type, width, height, duration_ms: millis }) {
  const pixels = typeof width === "number" && typeof height === "number" ? `${count(width)} × ${count(height)}` : null;
  const length = typeof millis === "number" ? duration(millis / 1000) : null;
  return [type, pixels, length].filter(Boolean).join(", ");
}
