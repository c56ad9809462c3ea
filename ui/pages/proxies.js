// @ts-check
// Proxies: the state of each, in trouble first, and actions; the hosts in trouble; refused requests, and the
// bytes of each day.

import { useProxies } from "../core/answers.js";
import { pathOf, send } from "../core/api.js";
import { link } from "../core/base.js";
import { bytes, count, plural, share } from "../core/format.js";
import { html, useState } from "../core/html.js";
import { may } from "../core/session.js";
import { PROTOCOLS } from "../core/vocabulary.js";
import { FormDialog, given } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { SparkKeys } from "../parts/chart.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { fleetOf, goodOf, HEALTH, numberOf, useProxySeries } from "../parts/proxy-health.js";
import { filtersOf, QueryBox } from "../parts/query-box.js";
import { useSteadyRows } from "../parts/rows.js";
import { headsOf, orderText, ordersOf, sorted } from "../parts/sort.js";
import { allOf, total, useSeries } from "../parts/series.js";
import { useHourOfDemo } from "../parts/simulated.js";
import { Figure, Strip } from "../parts/strip.js";
import { BytesADay, RefusedByProxy } from "./proxies/charts.js";
import { TroubledHosts } from "./proxies/hosts.js";
import { ImportProxies } from "./proxies/import.js";
import { Row } from "./proxies/row.js";

/** @import { Qualifier } from "../parts/query-box.js" */
/** @import { Keys } from "../parts/sort.js" */
/** @import { ProxyHealth } from "../parts/proxy-health.js" */
/** @import { NewProxy, ProxyListing, StatsSeries } from "../types/api" */

const MINUTES_A_DAY = 24 * 60;
/** @type {Qualifier[]} */
const QUALIFIERS = [
  { word: "health", parameter: "health", values: HEALTH },
  { word: "protocol", parameter: "protocol", values: PROTOCOLS },
  { word: "place", parameter: "place", help: "a state, such as AZ", read: (text) => text.toUpperCase() },
  { word: "address", parameter: "q", help: "part of host:port" },
];

/** The order of this page where its address says none. */
const INITIAL = "trouble";
/** @typedef {ProxyHealth & { bytes: number }} Each */
/** @type {Keys<Each>} */
const KEYS = {
  address: ({ proxy }) => `${proxy.host}:${proxy.port}`,
  answers: ({ asked }) => asked,
  good: (each) => (each.proxy.recent_requests > 0 ? goodOf([each])[0] / goodOf([each])[1] : null),
  latency: ({ proxy }) => proxy.avg_response_time_ms,
  bytes: ({ bytes }) => bytes,
};

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const answer = useProxies();
  const [requests, blocks, unanswered] = useProxySeries();
  const cost = useSeries({ metric: "bytes", by: "proxy", minutes: MINUTES_A_DAY, step: "1h", series: 100 }).data;
  const [form, open] = useState(/** @type {"import" | "add" | null} */ (null));
  usePage("Proxies", answer);
  const fleet = fleetOf(answer.data?.proxies ?? [], requests, blocks, unanswered);
  const bytesOf = (/** @type {number} */ id) => cost?.series.find((each) => each.key === String(id))?.total ?? 0;
  const filters = filtersOf(QUALIFIERS, query, [], ordersOf(KEYS, INITIAL));
  const found = fleet.filter((each) => matches(each, filters.query)).map((each) => ({ ...each, bytes: bytesOf(each.proxy.id) }));
  const steady = useSteadyRows(sorted(found, filters.query, KEYS), ({ proxy }) => proxy.id, filters.query.toString());
  const head = headsOf(filters.query, INITIAL);
  const isCut = !!answer.data?.next_cursor;
  const isAdmin = may("admin");
  const importButton = isAdmin &&
    html`<button class="btn primary" type="button" onClick=${() => open("import")}><${Icon} name="plus" />Import…</button>`;
  return html`<${PageHead} title="Proxies" scope=${`${plural(fleet.length, "proxy", "proxies")}, last hour`}>
      ${importButton}${isAdmin && html`<button class="btn" type="button" onClick=${() => open("add")}>Add one…</button>`}
    </${PageHead}>
    ${answer.data && html`<${Figures} fleet=${fleet} cost=${cost} />`}
    ${fleet.length > 0 && html`<${QueryBox} filters=${filters} label="Filter proxies" text="q"
      placeholder="health:benched protocol:socks5 203.0.113" />`}
    <${Panel} title="All proxies"
      scope=${`${count(steady.rows.length)} of ${count(fleet.length)}, ${orderText(filters.query, KEYS, "in trouble first")}${isCut ? "; the first 500" : ""}`}>
      <${Loaded} of=${answer} what="The list of proxies">${() =>
        fleet.length === 0
          ? html`<${Empty} icon="warn" title="There is no proxy">
              <p>Without one drover crawls nothing: it makes no direct requests.</p>${importButton}</${Empty}>`
          : steady.rows.length === 0
            ? html`<${Empty} icon="search" title="No proxy matches">
                <a class="btn" href=${link("/admin/proxies")}>Show all ${count(fleet.length)}</a></${Empty}>`
            : html`${head.select}<table class="table fold" ...${steady.hold}>
                <thead><tr>${head("Address", ["address", "address_desc"], "w-fifth")}${head("Health", [INITIAL])}
                  <th class="w-third">Why</th>${head("Answers, 60 min", ["answers_desc", "answers"])}
                  ${head("Good", ["good", "good_desc"], "num")}${head("Latency", ["latency_desc", "latency"], "num")}
                  ${head("Bytes, 24 h", ["bytes_desc", "bytes"], "num")}<th class="num"><span class="sr">Actions</span></th></tr></thead>
                <tbody>${steady.rows.map((each) =>
                  html`<${Row} key=${each.proxy.id} proxy=${each.proxy} health=${each.health}
                    requests=${each.requests} blocked=${each.blocked} unanswered=${each.unanswered} bytes=${each.bytes} />`)}</tbody>
              </table><${SparkKeys} />`}</${Loaded}>
    </${Panel}>
    <${TroubledHosts} />
    <div class="cols two even">
      <div class="panel panel-body"><${RefusedByProxy} fleet=${fleet} series=${requests} /></div>
      <div class="panel panel-body"><${BytesADay} /></div>
    </div>
    ${form === "import" && html`<${ImportProxies} onClose=${() => open(null)} />`}
    ${form === "add" && html`<${Add} onClose=${() => open(null)} />`}`;
}

/** @param {ProxyHealth} each @param {URLSearchParams} query */
function matches({ proxy, health }, query) {
  const isIt = (/** @type {string} */ name, /** @type {string | null | undefined} */ value) =>
    !query.get(name) || query.get(name) === value;
  const text = query.get("q") ?? "";
  return isIt("health", health) && isIt("protocol", proxy.protocol) && isIt("place", proxy.state_code) &&
    `${proxy.host}:${proxy.port}`.includes(text);
}

/** @param {{ fleet: ProxyHealth[], cost: StatsSeries | null }} properties */
function Figures({ fleet, cost }) {
  const demo = useHourOfDemo();
  const [asked, refused] = [total(fleet.map((each) => each.asked)), total(fleet.map((each) => each.refused))];
  const [benched, failing] = [numberOf(fleet, "benched"), numberOf(fleet, "failing")];
  const used = cost ? total(allOf(cost).map((each) => each.total)) : null;
  return html`<${Strip} label="Host totals">
    <${Figure} label="Healthy" value=${count(numberOf(fleet, "healthy"))} unit=${`/ ${count(fleet.length)}`}
      scope=${`now; ${count(numberOf(fleet, "untested"))} untested`} href=${link("/admin/proxies", { health: "healthy" })} />
    <${Figure} label="Failing" value=${count(failing)} kind=${failing > 0 ? "bad" : ""}
      icon=${failing > 0 && html`<${Icon} name="failed" />`} scope="now, no answers"
      href=${link("/admin/proxies", { health: "failing" })} />
    <${Figure} label="Refused" value=${count(numberOf(fleet, "refused"))} scope="now, by hosts"
      href=${link("/admin/proxies", { health: "refused" })} />
    <${Figure} label="Benched" value=${count(benched)} kind=${benched > 0 ? "hold" : ""}
      icon=${benched > 0 && html`<${Icon} name="pause" />`} scope="now, everywhere or at a host"
      href=${link("/admin/proxies", { health: "benched" })} />
    <${Figure} label="Refused requests" value=${share(refused, asked)} scope=${`last hour, of ${plural(asked, "request")}${demo.counted}`} />
    <${Figure} label="Bytes" value=${used === null ? "–" : bytes(used)} scope=${`last 24 hours, both directions${demo.counted}`} />
  </${Strip}>`;
}

/** @param {{ onClose: () => void }} properties */
const Add = ({ onClose }) =>
  html`<${FormDialog} title="Add a proxy" action="Add proxy" onClose=${onClose}
    done=${(/** @type {ProxyListing} */ proxy) => `${proxy.host}:${proxy.port} is added`}
    fields=${[
      { name: "protocol", label: "Protocol", type: "select", options: PROTOCOLS, value: "http" },
      { name: "host", label: "Host", required: true },
      { name: "port", label: "Port", type: "number", required: true, min: 1, max: 65535 },
      { name: "username", label: "User name" },
      { name: "password", label: "Password", type: "password", help: "kept encrypted if a key is configured, and never shown" },
      { name: "state_code", label: "State", placeholder: "AZ", help: "where it appears to be" },
      { name: "timezone", label: "Time zone", placeholder: "America/Phoenix" },
    ]}
    submit=${(/** @type {NewProxy} */ values) => send("POST", pathOf("/api/proxies"), given(values))} />`;
