// @ts-check
// Hosts: the state of each, in words and numbers, its limits, and its breaker.

import { useHosts } from "../core/answers.js";
import { pathOf, send } from "../core/api.js";
import { link } from "../core/base.js";
import { count, decimal, milliseconds, plural, share } from "../core/format.js";
import { html, memo } from "../core/html.js";
import { useResource } from "../core/resource.js";
import { may } from "../core/session.js";
import { confirm } from "../parts/dialog.js";
import { Empty, Loaded, PageHead, Panel } from "../parts/panel.js";
import { usePage } from "../parts/page.js";
import { PauseButton, Pauses, usePauses } from "../parts/pause.js";
import { RowAction } from "../parts/row-action.js";
import { useSteadyRows } from "../parts/rows.js";
import { headsOf, orderText, sorted } from "../parts/sort.js";
import { Figure, Strip } from "../parts/strip.js";
import { BreakerState } from "../parts/status.js";
import { Ago, Until } from "../parts/time.js";
import { act } from "../parts/toast.js";

/** @import { Keys } from "../parts/sort.js" */
/** @import { HostListing, Pause } from "../types/api" */
/** @import { Data } from "../types/requests" */

const TROUBLE = ["open", "half_open", "closed"];
/** The order of this page where its address says none. */
const INITIAL = "trouble";
/** @type {Keys<HostListing>} */
const KEYS = {
  host: ({ host }) => host,
  answers: ({ answers }) => answers,
  refused_lately: ({ window_refusals: refusals, window_answers: answers }) => (answers > 0 ? refusals / answers : null),
  rate: ({ configured_rate: configured, rate }) => (configured === 0 ? null : rate),
  latency: ({ latency_ms: latency }) => latency,
};

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const answer = useHosts();
  const pauses = usePauses().data?.pauses;
  usePage("Hosts", answer);
  const hosts = [...(answer.data?.hosts ?? [])].sort((a, b) =>
    TROUBLE.indexOf(a.breaker) - TROUBLE.indexOf(b.breaker) || b.window_refusals - a.window_refusals);
  const steady = useSteadyRows(sorted(hosts, query, KEYS), (host) => host.host, query.get("sort") ?? "");
  const shown = query.get("host");
  const head = headsOf(query, INITIAL);
  const inTrouble = hosts.filter((host) => host.breaker !== "closed").length;
  return html`<${PageHead} title="Hosts" scope=${`every host that was contacted, ${orderText(query, KEYS, "in trouble first")}`} />
    <${Pauses} pauses=${pauses} scopes=${["host"]} />
    ${answer.data &&
    html`<${Strip} label="Host totals">
      <${Figure} label="Hosts" value=${count(hosts.length)} scope=${answer.data.next_cursor ? "the first 500" : "that were contacted"} />
      <${Figure} label="Breakers open" value=${count(inTrouble)} kind=${inTrouble > 0 ? "bad" : ""}
        scope="now: requests wait, or one is a probe" />
      <${Figure} label="Answers" value=${count(sum(hosts, "answers"))} scope="since the first one" />
      <${Figure} label="Refusals" value=${count(sum(hosts, "refusals"))}
        scope=${`${share(sum(hosts, "refusals"), sum(hosts, "answers"))} of answers since the first one`} />
    </${Strip}>`}
    ${shown && html`<${Detail} host=${shown} />`}
    <${Panel} title="All hosts">
      <${Loaded} of=${answer} what="The list of hosts">${() =>
        hosts.length === 0
          ? html`<${Empty} icon="pending" title="No host has been contacted yet"><p>The first crawl adds them.</p></${Empty}>`
          : html`${head.select}<table class="table fold" ...${steady.hold}>
              <thead><tr>${head("Host", ["host", "host_desc"])}${head("Breaker", [INITIAL])}
                <th class="w-third">What it does</th><th>Next</th>
                ${head("Answers", ["answers_desc", "answers"], "num")}${head("Refused lately", ["refused_lately_desc", "refused_lately"], "num")}
                ${head("Rate", ["rate", "rate_desc"], "num")}${head("Latency", ["latency_desc", "latency"], "num")}<th class="num"><span class="sr">Actions</span></th></tr></thead>
              <tbody>${steady.rows.map((host) => html`<${Row} key=${host.host} host=${host} pauses=${pauses} />`)}</tbody>
            </table>`}</${Loaded}>
    </${Panel}>`;
}

/** @param {HostListing[]} hosts @param {"answers" | "refusals"} name */
const sum = (hosts, name) => hosts.reduce((all, host) => all + host[name], 0);

const Row = memo((/** @type {{ host: HostListing, pauses: Pause[] | undefined }} */ { host, pauses }) => {
  return html`<tr data-row>
    <th scope="row" class="key"><a class="mono" href=${link("/admin/hosts", { host: host.host })}>${host.host}</a></th>
    <td class="end"><${BreakerState} of=${host.breaker} /></td>
    <td class="line soft wrap">${host.does}${host.why && html`<br /><span class="scope">${host.why}</span>`}</td>
    <td class="fact">${host.probe_at
      ? html`probe <${Until} at=${host.probe_at} />`
      : host.hold_until && html`on hold, ends <${Until} at=${host.hold_until} />`}</td>
    <td class="num fact" data-l="answers">${count(host.answers)}</td>
    <td class="num fact" data-l="refused lately">${share(host.window_refusals, host.window_answers)}</td>
    <td class="num fact" data-l="rate">${rate(host)}</td>
    <td class="num fact" data-l="latency">${milliseconds(host.latency_ms)}</td>
    <td class="num line">${may("operator") && html`<${Actions} host=${host} pauses=${pauses} />`}</td>
  </tr>`;
});

/** @param {HostListing} host */
function rate(host) {
  if (host.configured_rate === 0) return html`<span class="dim">unlimited</span>`;
  return host.rate === host.configured_rate ? `${decimal(host.rate)} /s` : `${decimal(host.configured_rate)} → ${decimal(host.rate)} /s`;
}

/** @param {{ host: HostListing, pauses: Pause[] | undefined }} properties */
function Actions({ host, pauses }) {
  const isPaused = (pauses ?? []).some(({ scope, of }) => scope === "host" && of === host.host);
  const path = pathOf("/api/hosts/{host}", { host: host.host });
  const close = async () => {
    const isSure = await confirm({
      title: `Close the breaker of ${host.host}?`,
      body: html`<p>Requests go on at once. It opens again automatically if they are refused.</p>`,
      action: "Close breaker",
    });
    if (isSure) await act(() => send("PUT", path, { breaker: "closed" }), `The breaker of ${host.host} is closed`);
  };
  const forget = async () => {
    const isSure = await confirm({
      title: `Forget ${host.host}?`,
      body: html`<p>Its counts, rate and breaker start from zero.</p>`,
      action: "Forget host",
      danger: true,
    });
    if (isSure) await act(() => send("DELETE", path), `${host.host} is forgotten`);
  };
  return html`<span class="row">
    ${host.breaker === "closed" || isPaused
      ? html`<${PauseButton} scope="host" of=${host.host} name=${host.host} pauses=${pauses} isSmall=${true} />`
      : html`<${RowAction} action="Close…" of=${host.host} isMain=${true} onClick=${close} />`}
    <${RowAction} action="Forget…" of=${host.host} onClick=${forget} />
  </span>`;
}

/** @param {HostListing} host */
const counted = ({ refusals, failures, throttles }) =>
  `${plural(refusals, "refusal")}, ${plural(failures, "failure")}, ${plural(throttles, "throttle")}`;

/** One host with its robots.txt. @param {{ host: string }} properties */
function Detail({ host }) {
  const answer = useResource(pathOf("/api/hosts/{host}", { host }), { topics: ["rollups"], gap: 15_000 });
  const more = html`<a class="more" href=${link("/admin/hosts")}>Close</a>`;
  return html`<${Panel} title=${host} scope="in detail" more=${more}>
    <${Loaded} of=${answer} what="The host">${(/** @type {Data<typeof answer>} */ data) => {
      return html`<div class="panel-body"><dl class="facts">
        <dt>Does</dt><dd>${data.does}</dd>
        <dt>Breaker</dt><dd><${BreakerState} of=${data.breaker} /> since <${Ago} at=${data.breaker_since}
          after="ago" />${data.opens_in_a_row > 0 && `, opened ${plural(data.opens_in_a_row, "time")} in a row`}</dd>
        ${data.why && html`<dt>Why</dt><dd>${data.why}</dd>`}
        <dt>Answers</dt><dd>${count(data.answers)}, ${counted(data)} since the first request</dd>
        ${data.robots.map(
          (robots) => html`<dt>robots.txt</dt>
            <dd>of <span class="mono">${robots.authority}</span>: ${robots.answered}, policy ${robots.policy}
              ${robots.rules.length > 0 &&
                html`<pre class="code" tabindex="0" aria-label=${`Rules of ${robots.authority}`}>${robots.rules.join("\n")}</pre>`}</dd>`,
        )}
      </dl></div>`;
    }}</${Loaded}>
  </${Panel}>`;
}
