// @ts-check
// The proxies in trouble, one by one, and the others as one row for each health.

import { link } from "../../core/base.js";
import { count, milliseconds, plural, share } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { Spark, SparkKeys } from "../../parts/chart.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";
import { goodOf, HEALTH, isInTrouble } from "../../parts/proxy-health.js";
import { total } from "../../parts/series.js";
import { ProxyState } from "../../parts/status.js";

/** @import { Answer } from "../../core/resource.js" */
/** @import { ProxyHealth } from "../../parts/proxy-health.js" */
/** @import { ProxyPage } from "../../types/api" */
/** @typedef {{ name: string, to: string, health: ProxyHealth["health"] } & ReturnType<typeof numbers>} RowOf */

const SHOWN = 5;

/** @param {{ of: Answer<ProxyPage>, fleet: ProxyHealth[] | null }} properties */
export function Proxies({ of, fleet }) {
  const all = fleet ?? [];
  const more = html`<a class="more" href=${link("/admin/proxies")}>Proxies and hosts</a>`;
  return html`<${Panel} title="Proxies" scope=${fleet && `${count(all.length)}, last hour`} more=${more}>
    <${Loaded} of=${of} what="The list of proxies">${() =>
      all.length === 0
        ? html`<${Empty} icon="warn" title="There is no proxy">
            <p>Without one drover crawls nothing: it makes no direct requests.</p>
            <a class="btn" href=${link("/admin/proxies")}>Import proxies</a></${Empty}>`
        : html`<table class="table fold">
            <thead><tr><th class="w-third">Address</th><th>State</th><th>Answers, 60 min</th><th class="num">Good</th>
              <th class="num">Latency</th></tr></thead>
            <tbody>${rowsOf(all).map((row) => html`<${Row} key=${row.name + row.health} ...${row} />`)}</tbody>
          </table><${SparkKeys} />`}</${Loaded}>
  </${Panel}>`;
}

/** @param {ProxyHealth[]} all @returns {RowOf[]} */
function rowsOf(all) {
  const troubled = all.filter(isInTrouble).slice(0, SHOWN);
  const rest = all.filter((each) => !troubled.includes(each));
  /** @type {RowOf[]} */
  const rows = troubled.map((each) => {
    const name = `${each.proxy.host}:${each.proxy.port}`;
    return { name, to: name, health: each.health, ...numbers([each]) };
  });
  for (const health of HEALTH) {
    const group = rest.filter((each) => each.health === health);
    const name = troubled.length > 0 ? plural(group.length, "other") : plural(group.length, "proxy", "proxies");
    if (group.length > 0) rows.push({ name, to: "", health, ...numbers(group) });
  }
  return rows;
}

/** @param {ProxyHealth[]} group */
function numbers(group) {
  const add = (/** @type {(each: ProxyHealth) => number[]} */ points) =>
    (group[0] ? points(group[0]).map((_, at) => total(group.map((each) => points(each)[at] ?? 0))) : []);
  const times = group.flatMap(({ proxy }) => proxy.avg_response_time_ms ?? []);
  return {
    good: share(...goodOf(group)),
    latency: milliseconds(times.length > 0 ? total(times) / times.length : null),
    requests: add((each) => each.requests),
    blocked: add((each) => each.blocked),
    unanswered: add((each) => each.unanswered),
  };
}

const Row = memo((/** @type {RowOf} */ row) =>
  html`<tr data-row>
    <th scope="row" class="key cut"><a href=${link("/admin/proxies", row.to ? { q: row.to } : { health: row.health })} title=${row.name}>${row.name}</a></th>
    <td class="end"><${ProxyState} of=${row.health} /></td>
    <td class="low"><${Spark} all=${row.requests} bad=${row.blocked} none=${row.unanswered} /></td>
    <td class="num fact" data-l="good">${row.good}</td>
    <td class="num fact" data-l="latency">${row.latency}</td>
  </tr>`);
