// @ts-check
// The overview: one sentence on the state, then figures, charts, failures, suffering proxies, pods,
// delayed roles, and current scrapes. Each part links to its list.

import { useHeldHosts, useOverview, useProxies, useSchedules } from "../core/answers.js";
import { plural } from "../core/format.js";
import { html } from "../core/html.js";
import { PageHead } from "../parts/panel.js";
import { PauseButton, Pauses } from "../parts/pause.js";
import { usePage } from "../parts/page.js";
import { useIsPhone } from "../parts/secondary.js";
import { Behind } from "./overview/behind.js";
import { Charts } from "./overview/charts.js";
import { Failures } from "./overview/failures.js";
import { Figures } from "./overview/figures.js";
import { Images } from "./overview/images.js";
import { Pods } from "./overview/pods.js";
import { Proxies } from "./overview/proxies.js";
import { Quality } from "./overview/quality.js";
import { Scraping } from "./overview/scraping.js";
import { Verdict } from "./overview/verdict.js";
import { fleetOf, useProxySeries } from "../parts/proxy-health.js";

/** @import { Seen } from "./overview/verdict.js" */

/** @param {{ query: URLSearchParams }} properties */
export function Page({ query }) {
  const overview = useOverview();
  const schedules = useSchedules();
  const proxies = useProxies();
  const hosts = useHeldHosts();
  const [requests, blocks, unanswered] = useProxySeries();
  usePage("Overview", overview, proxies);

  const fleet = proxies.data ? fleetOf(proxies.data.proxies, requests, blocks, unanswered) : null;
  /** @type {Seen} */
  const seen = {
    overview: overview.data,
    hosts: hosts.data?.hosts,
    proxies: fleet,
  };
  const stores = overview.data?.stores.enabled;
  return html`<div class="overview stack">
    <${PageHead} title="Overview" scope=${`${stores === undefined ? "" : `${plural(stores, "enabled store")} · `}times in UTC`}>
      <${PauseButton} scope="all" name="everything" pauses=${overview.data?.pauses} /></${PageHead}>
    <${Pauses} pauses=${overview.data?.pauses} scopes=${["all"]} />
    <${Verdict} ...${seen} />
    <${Figures} ...${seen} error=${overview.error} />
    <${Charts} query=${query} breakerShare=${overview.data?.breaker_share} />
    <div class="cols two">
      <div class="stack"><${Failures} of=${overview} /><${Quality} /><${Proxies} of=${proxies} fleet=${fleet} /></div>
      <div class="stack"><${Pods} of=${overview} />
        <${Behind} of=${overview} schedules=${schedules.data?.schedules} /></div>
    </div>
    <${Scraping} of=${overview} tasks=${overview.data?.running} counts=${overview.data?.counts} shown=${useIsPhone() ? 4 : 8} />
    <${Images} overview=${overview.data} />
  </div>`;
}
