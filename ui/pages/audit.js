// @ts-check
// Audit: changes with their callers and addresses.

import { pathOf } from "../core/api.js";
import { link, pick } from "../core/base.js";
import { plural } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { filtersOf, QueryBox, readTime } from "../parts/query-box.js";
import { Pager, useSteadyRows, Waiting } from "../parts/rows.js";
import { AGES, ageText, headsOf } from "../parts/sort.js";
import { Ago } from "../parts/time.js";
import { callerText, sentenceOf } from "./audit/sentence.js";

/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { AuditRow } from "../types/api" */
/** @import { Data } from "../types/requests" */

/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "who", parameter: "who", help: "a token's name, local, command line or a crawl" },
  {
    word: "action",
    parameter: "action",
    help: "as tasks.retry",
    isOpen: true,
    values: ["tasks.create", "tasks.retry", "tasks.cancel", "tasks.bulk", "workers.order", "stores.set", "stores.bulk", "proxies.import"],
  },
  { word: "from", parameter: "from", help: "a day or time in UTC, such as 2026-11-22", read: readTime, accepts: (value) => readTime(value) !== null },
  { word: "to", parameter: "to", help: "a day or time in UTC", read: readTime, accepts: (value) => readTime(value) !== null },
];
const PARAMETERS = /** @type {const} */ (["who", "action", "from", "to", "sort", "cursor"]);

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const filters = filtersOf(QUALIFIERS, query, ["cursor"], AGES);
  const asked = pick(filters.query, PARAMETERS);
  const path = pathOf("/api/audit", { ...asked, limit: 50 });
  const answer = useResource(path, { topics: ["task", "rollups"], gap: 5_000 });
  const steady = useSteadyRows(answer.data?.audit ?? [], (row) => row.id, path);
  usePage("Audit", answer);
  const isFiltered = QUALIFIERS.some(({ parameter }) => filters.query.get(parameter));
  const head = headsOf(query, AGES[0]);
  return html`<${PageHead} title="Audit" scope=${`every change created by request, ${ageText(filters.query)}`} />
    <${QueryBox} filters=${filters} label="Filter changes" text="who"
      placeholder="who:operations action:tasks.retry from:2026-11-22" />
    <${Panel} title="Changes" scope=${isFiltered ? "that match" : "all"}>
      <${Loaded} of=${answer} what="The audit">${(/** @type {Data<typeof answer>} */ data) =>
        steady.rows.length === 0
          ? html`<${Empty} icon="search" title=${isFiltered ? "No change matches" : "Nothing has been changed yet"}>
              ${isFiltered && html`<a class="btn" href=${link("/admin/audit")}>Show all</a>`}</${Empty}>`
          : html`<div ...${steady.hold}><${Waiting} waiting=${steady.waiting} onShow=${steady.show} />${head.select}<table class="table fold">
                <thead><tr><th class="w-third">Change</th><th>Action</th><th class="w-third">Detail</th><th>From</th>
                  ${head("When", AGES, "num")}</tr></thead>
                <tbody>${steady.rows.map((row) => html`<${Row} key=${row.id} row=${row} />`)}</tbody>
              </table></div>
              <${Pager} query=${query} next=${data.next_cursor}>${plural(steady.rows.length, "change")} on this page</${Pager}>
              <p class="panel-foot">“local” is a caller on the server's machine, without a token, before the first one existed.
                “The command line” is a drover command with access to the database.</p>`}</${Loaded}>
    </${Panel}>`;
}

const Row = memo((/** @type {{ row: AuditRow }} */ { row }) => {
  const { verb, thing, href, rest } = sentenceOf(row);
  return html`<tr data-row>
    <th scope="row" class="key wrap"><a href=${link("/admin/audit", { who: row.who })}><bdi>${callerText(row.who)}</bdi></a>${" "}
      ${verb} ${href ? html`<a class="link" href=${href}>${thing}</a>` : html`<bdi>${thing}</bdi>`}<bdi>${rest}</bdi></th>
    <td class="fact"><a href=${link("/admin/audit", { action: row.action })}>${row.action}</a></td>
    <td class="line soft wrap">${detailText(row.detail)}</td>
    <td class="low">${row.address ?? ""}</td>
    <td class="num end"><${Ago} at=${row.at} after="ago" /></td>
  </tr>`;
});

/** `is active: no, reason: maintenance`; what is not set is left out. @param {unknown} detail @returns {string} */
const detailText = (detail) =>
  Object.entries(detail ?? {})
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${valueText(value)}`)
    .join(", ");

/** @param {unknown} value @returns {string} */
function valueText(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(valueText).join(", ") || "none";
  return typeof value === "object" ? `(${detailText(value)})` : String(value);
}
