// @ts-check
// The proxies in trouble, one by one, and the healthy rest as one row.

import { link } from "../../core/base.js";
import { count, milliseconds, plural, share } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { Spark } from "../../parts/chart.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { total } from "../../parts/series.js";
import { ProxyState } from "../../parts/status.js";

/** @import { Answer } from "../../core/resource.js" */
/** @import { ProxyHealth } from "../../parts/proxy-health.js" */
/** @import { ProxyPage } from "../../types/api" */
/** @typedef {{ name: string, to: string, state: ProxyHealth["state"] } & ReturnType<typeof numbers>} RowOf */

const SHOWN = 5;

/** @param {{ of: Answer<ProxyPage>, fleet: ProxyHealth[] | null }} properties */
export function Proxies({ of, fleet }) {
  const all = fleet ?? [];
  const more = html`<a class="more" href=${link("/admin/proxies")}>Proxies and hosts</a>`;
  return html`<${Panel} title="Proxies" scope=${`${count(all.length)}, last hour`} more=${more}>
    <${Loaded} of=${of} what="The list of proxies">${() =>
      all.length === 0
        ? html`<${Empty} icon="warn" title="There is no proxy">
            <p>Without one drover crawls nothing: it makes no direct requests.</p>
            <a class="btn" href=${link("/admin/proxies")}>Import proxies</a></${Empty}>`
        : html`<table class="table fold">
            <thead><tr><th class="w-third">Address</th><th>State</th><th>Answers, 60 min</th><th class="num">Good</th>
              <th class="num">Latency</th></tr></thead>
            <tbody>${rowsOf(all).map((row) => html`<${Row} key=${row.name} ...${row} />`)}</tbody>
          </table>`}</${Loaded}>
  </${Panel}>`;
}

/** @param {ProxyHealth[]} all @returns {RowOf[]} */
function rowsOf(all) {
  const troubled = all.filter(({ state }) => state === "benched" || state === "suffers").slice(0, SHOWN);
  const rest = all.filter((each) => !troubled.includes(each));
  const healthy = rest.filter(({ state }) => state === "active");
  /** @type {RowOf[]} */
  const rows = troubled.map((each) => {
    const name = `${each.proxy.host}:${each.proxy.port}`;
    return { name, to: name, state: each.state, ...numbers([each]) };
  });
  const others = troubled.length > 0 ? plural(healthy.length, "other") : plural(healthy.length, "proxy", "proxies");
  if (healthy.length > 0) rows.push({ name: others, to: "", state: "active", ...numbers(healthy) });
  const off = rest.length - healthy.length;
  if (off > 0) rows.push({ name: `${count(off)} more`, to: "", state: "off", ...numbers([]) });
  return rows;
}

/** @param {ProxyHealth[]} group */
function numbers(group) {
  const add = (/** @type {(each: ProxyHealth) => number[]} */ points) =>
    (group[0] ? points(group[0]).map((_, at) => total(group.map((each) => points(each)[at] ?? 0))) : []);
  const asked = total(group.map((each) => each.asked));
  const refused = total(group.map((each) => each.refused));
  const times = group.flatMap(({ proxy }) => proxy.avg_response_time_ms ?? []);
  return {
    good: share(asked - refused, asked),
    latency: milliseconds(times.length > 0 ? total(times) / times.length : null),
    requests: add((each) => each.requests),
    blocked: add((each) => each.blocked),
  };
}

const Row = memo((/** @type {RowOf} */ row) =>
  html`<tr data-row>
    <th scope="row" class="key cut"><a href=${link("/admin/proxies", { q: row.to })} title=${row.name}>${row.name}</a></th>
    <td class="end"><${ProxyState} of=${row.state} /></td>
    <td class="low"><${Spark} good=${row.requests} bad=${row.blocked} /></td>
    <td class="num fact" data-l="good">${row.good}</td>
    <td class="num fact" data-l="latency">${row.latency}</td>
  </tr>`);
