// @ts-check
// The hosts in trouble, beside the proxies through which they were asked.

import { useHosts } from "../../core/answers.js";
import { link } from "../../core/base.js";
import { count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Loaded, Panel } from "../../parts/panel.js";
import { BreakerState } from "../../parts/status.js";

/** @import { HostListing } from "../../types/api" */

const SHOWN = 4;
/** Share of refused requests from which on a host is in trouble. */
const MIN_SHARE = 0.01;
const TROUBLE = ["open", "half_open", "closed"];

/** By `window_refused_since`, as the words for what it does: refusals fade, and are no trouble long before none is left. @param {HostListing} host */
const isInTrouble = ({ breaker, window_refused_since: since, window_refusals: refusals, window_answers: answers }) =>
  breaker !== "closed" || ((since ?? null) !== null && refusals > 0 && refusals >= MIN_SHARE * answers);

export function TroubledHosts() {
  const answer = useHosts();
  const hosts = answer.data?.hosts ?? [];
  const troubled = hosts
    .filter(isInTrouble)
    .sort((a, b) => TROUBLE.indexOf(a.breaker) - TROUBLE.indexOf(b.breaker) || b.window_refusals - a.window_refusals);
  const more = html`<a class="more" href=${link("/admin/hosts")}>All hosts</a>`;
  return html`<${Panel} title="Hosts"
    scope=${answer.data && `${count(troubled.length)} of ${count(hosts.length)} in trouble`} more=${more}>
    <${Loaded} of=${answer} what="The list of hosts" rows=${2}>${() =>
      troubled.length === 0
        ? html`<p class="panel-body dim">No host refuses 1 % of requests or more.</p>`
        : html`<table class="table fold"><thead><tr><th>Host</th><th>Breaker</th><th>What it does</th></tr></thead>
            <tbody>${troubled.slice(0, SHOWN).map(
              (host) => html`<tr key=${host.host} data-row>
                <th scope="row" class="key"><a class="mono" href=${link("/admin/hosts", { host: host.host })}>${host.host}</a></th>
                <td class="end"><${BreakerState} of=${host.breaker} /></td><td class="line soft">${host.does}</td></tr>`,
            )}</tbody></table>`}</${Loaded}>
  </${Panel}>`;
}
