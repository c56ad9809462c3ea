// @ts-check
// A proxy's row: its state, the reason, and actions.

import { pathOf, send } from "../../core/api.js";
import { bytes as inBytes, milliseconds, plural, share } from "../../core/format.js";
import { html, memo } from "../../core/html.js";
import { may } from "../../core/session.js";
import { Spark } from "../../parts/chart.js";
import { CopyId } from "../../parts/copy-id.js";
import { confirm } from "../../parts/dialog.js";
import { goodOf } from "../../parts/proxy-health.js";
import { RowAction } from "../../parts/row-action.js";
import { ProxyState } from "../../parts/status.js";
import { Ago, Until } from "../../parts/time.js";
import { act } from "../../parts/toast.js";

/** @import { ProxyHealth } from "../../parts/proxy-health.js" */
/** @import { ProxyListing as Proxy, ProxyTest } from "../../types/api" */
/** @typedef {Pick<ProxyHealth, "proxy" | "health" | "requests" | "blocked" | "unanswered"> & { bytes: number }} RowOf */

export const Row = memo(
  (/** @type {RowOf} */ { proxy, health, requests, blocked, unanswered, bytes }) => {
    const name = `${proxy.host}:${proxy.port}`;
    return html`<tr data-row>
      <th scope="row" class="key cut" title=${name}>${name}<br />
        <span class="scope">${[proxy.protocol, proxy.state_code, proxy.id].filter(Boolean).join(" · ")}</span>
        <${CopyId} id=${proxy.id} what="proxy" /></th>
      <td class="end"><${ProxyState} of=${health} /></td>
      <td class="line soft wrap">${whyOf(proxy)}</td>
      <td class="low"><${Spark} all=${requests} bad=${blocked} none=${unanswered} /></td>
      <td class="num fact" data-l="good" title=${`of its ${plural(proxy.recent_requests, "latest request")}`}>${share(...goodOf([{ proxy }]))}</td>
      <td class="num fact" data-l="latency">${milliseconds(proxy.avg_response_time_ms)}</td>
      <td class="num fact" data-l="bytes">${inBytes(bytes)}</td>
      <td class="num line">${may("admin") && html`<${Actions} proxy=${proxy} name=${name} />`}</td>
    </tr>`;
  },
);

/** @param {Proxy} proxy */
function whyOf(proxy) {
  if (proxy.health === "healthy" || proxy.health === "untested") return proxy.hosts_text;
  const streak = proxy.consecutive_403_count > 0 && `${plural(proxy.consecutive_403_count, "refusal")} in a row`;
    // the last error may be of another host than the bench
  return html`${proxy.benched.length > 0 ? proxy.benched[0].reason : (proxy.last_error ?? "")}
    ${streak && html`<br /><span class="scope">${streak}
      ${proxy.last_failure_at && html`, the last <${Ago} at=${proxy.last_failure_at} after="ago" />`}</span>`}
    ${proxy.hosts_text && proxy.hosts.length > 1 && html`<br /><span class="scope">${proxy.hosts_text}</span>`}
    ${proxy.benched.map(({ host, until }) =>
      html`<br /><span class="scope">benched ${host === null ? "everywhere" : `at ${host}`}, back <${Until} at=${until} /></span>`)}`;
}

/** @param {{ proxy: Proxy, name: string }} properties */
function Actions({ proxy, name }) {
  const path = pathOf("/api/proxies/{id}", { id: proxy.id });
  const test = () => act(() => send("POST", pathOf("/api/proxies/{id}/test", { id: proxy.id }), {}), (tested) => told(name, tested));
  // a failing proxy that is not off rests: it may be disabled, too
  const isOff = proxy.health === "off";
  const turn = () => act(() => send("PUT", path, { is_active: isOff }), `${name} is ${isOff ? "enabled" : "disabled"}`);
  const remove = async () => {
    const isSure = await confirm({
      title: `Delete the proxy ${name}?`,
      body: html`<p>Requests under way through it end. The traffic that it carried stays in the counts.</p>`,
      action: "Delete",
      danger: true,
    });
    if (isSure) await act(() => send("DELETE", path), `${name} is deleted`);
  };
  return html`<span class="row">
    <${RowAction} action="Test" of=${name} onClick=${test} />
    <${RowAction} action=${isOff ? "Enable" : "Disable"} of=${name} onClick=${turn} />
    <${RowAction} action="Delete…" of=${name} onClick=${remove} />
  </span>`;
}

/** @param {string} name @param {ProxyTest} tested @returns {["good" | "warn", string]} */
const told = (name, { ok, latency_ms: latency, reason }) =>
  (ok ? ["good", `${name} answered in ${milliseconds(latency)}`] : ["warn", `${name} failed the test: ${reason ?? "no reason was given"}`]);
