// @ts-check
// The frame of every page: the top bar, the list of pages with their counts, and the banner that shows how
// current the page is.

import { useCounts, useNavigation, useWorkers } from "../core/answers.js";
import { link } from "../core/base.js";
import { now } from "../core/clock.js";
import { clockTime, count, duration, shortTime } from "../core/format.js";
import { html, useEffect, useState } from "../core/html.js";
import { logOut, may, who } from "../core/session.js";
import { connect, stream, watchStream } from "../core/stream.js";
import { PAGES } from "../pages.js";
import { Find } from "./find.js";
import { Icon } from "./icon.js";
import { showKeys } from "./keys.js";
import { isLive } from "./pods.js";

/** Minimum time of a lost stream before the banner appears. */
const BANNER_MS = 1_500;

/** @import { Children } from "../core/html.js" */
/** @import { Navigation } from "../types/api" */
/** @typedef {{ text: number, kind?: string, icon?: string, word?: string, title?: string }} NavCount */

/** @param {{ path: string, children?: Children }} properties */
export function Frame({ path, children }) {
  return html`<a class="skip" href="#main">Skip to content</a>
    <div class="frame">
      <header class="topbar">
        <a class="brand" href=${link("/admin")}><${Sign} />drover</a>
        <${Find} />
        <${LiveState} />
        <${Reader} />
        <button class="icon-btn not-phone" type="button" aria-label="Keyboard shortcuts" onClick=${() => showKeys()}><kbd>?</kbd></button>
        <button class="icon-btn" type="button" data-action="theme" aria-label="Light or dark"><${Icon} name="theme" /></button>
        <button class="icon-btn menu" type="button" popovertarget="nav" aria-label="Pages"><${Icon} name="menu" /></button>
      </header>
      <${Nav} path=${path} />
      <main id="main" tabindex="-1"><${Banner} /><${Simulated} />${children}</main>
    </div>`;
}

const Sign = () =>
  html`<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="var(--accent)" stroke-width="2.6">
    <circle cx="12" cy="12" r="9" pathLength="30" stroke-dasharray="8 2" stroke-dashoffset="-1" transform="rotate(-90 12 12)" />
    <circle cx="12" cy="12" r="2.4" fill="var(--accent)" stroke="none" />
  </svg>`;

function useStream() {
  const [, draw] = useState(0);
  useEffect(() => {
    const again = () => draw((times) => times + 1);
    // its state may have changed since it was drawn
    again();
    return watchStream(again);
  }, []);
  return stream;
}

const LIVE = { on: ["dot", "Live"], paused: ["pause", "Paused"], lost: ["warn", "Not live"] };

function LiveState() {
  const { state, heardAt } = useStream();
  const isFirst = state === "lost" && !heardAt;
  const [icon, word] = isFirst ? ["stale", "Connecting"] : LIVE[state];
  const title = heardAt ? `Last heard at ${clockTime(heardAt)} UTC` : "Nothing heard yet";
  return html`<p class=${`live ${state === "on" ? "" : "is-stale"}`} role="status" title=${title}><${Icon} name=${icon} />${word}</p>`;
}

function Banner() {
  const { state, heardAt, retryAt } = useStream();
  const [isLate, become] = useState(false);
  useEffect(() => {
    become(false);
    if (state !== "lost") return undefined;
    const timer = setTimeout(() => become(true), BANNER_MS);
    return () => clearTimeout(timer);
  }, [state]);
  if (state !== "lost" || !isLate) return null;
  const since = heardAt ? `Stale since ${clockTime(heardAt)} UTC.` : "Connecting.";
  const what = heardAt ? "Connection lost: you see old data." : "No event has come yet.";
  const wait = Math.max(1, (retryAt - now()) / 1000);
  return html`<div class="banner" role="status"><${Icon} name="warn" />
    <p><b>${since}</b> ${what} Trying again every ${duration(Math.ceil(wait))}.</p>
    <button class="btn small" type="button" onClick=${connect}>Try now</button>
  </div>`;
}

/** The mark of a demo's history, whose end is the demo's start. */
function Simulated() {
  const until = useNavigation().data?.simulated_until;
  return until && html`<p class="scope simulated"><b>Demo.</b> History before ${shortTime(until)} is simulated: charts, prices and failed tasks.</p>`;
}

function Reader() {
  const reader = who();
  if (!reader) return null;
  const isLocal = reader.name === "local";
  const title = isLocal ? "No token exists yet: this machine may do everything" : `Token ${reader.name}`;
  return html`<span class="tag not-phone" title=${title}>${reader.role}</span>
    ${!isLocal && html`<button class="btn small quiet not-phone" type="button" onClick=${logOut}>Log out</button>`}`;
}

const SECTIONS = [...new Set(PAGES.flatMap(({ section }) => section ?? []))];

/** @param {{ path: string }} properties */
function Nav({ path }) {
  const counts = useNavCounts();
  useEffect(() => {
    const sheet = document.getElementById("nav");
    if (sheet?.matches(":popover-open")) sheet.hidePopover();
  }, [location.href]);
  return html`<nav class="nav" id="nav" popover aria-label="Pages"><div>
    ${SECTIONS.map((section) => html`<h2>${section}</h2><ul>${PAGES.filter((page) => page.section === section)
      .filter(({ role }) => !role || may(role))
      .map(({ path: to, title }) =>
        html`<li><a href=${link(to)} aria-current=${current(path, to)}>${title}<${NavNumber} ...${counts[to] || {}} /></a></li>`)}</ul>`)}
  </div></nav>`;
}

/** @param {string} path @param {string} to */
function current(path, to) {
  if (path === to) return "page";
  return to !== "/admin" && path.startsWith(`${to}/`) ? "true" : undefined;
}

/** @param {Partial<NavCount>} properties */
const NavNumber = ({ text, kind = "", icon, word, title }) =>
  text !== undefined && html`<small class=${kind} title=${title}>${icon && html`<${Icon} name=${icon} />`}${count(text)}
    ${word && html`<span class="sr"> ${word}</span>`}</small>`;

/** @returns {Record<string, NavCount | false>} */
function useNavCounts() {
  const tasks = useCounts().data;
  const workers = useWorkers().data?.workers;
  const all = useNavigation().data;
  return {
    "/admin/tasks": !!tasks && tasks.failed > 0 && { text: tasks.failed, kind: "bad", icon: "failed", word: "failed, of all kept tasks",
      title: "Failed tasks of any age; the overview counts those of the last hour" },
    "/admin/workers": !!workers && { text: workers.filter(isLive).length, word: "workers" },
    ...(all && countsOf(all)),
  };
}

/** Trouble first, else the whole number. @param {Navigation} all @returns {Record<string, NavCount | false>} */
function countsOf({ proxies, hosts_on_hold: held, stores, stores_in_need: need, stores_delayed: delayed, products }) {
  const troubled = proxies.failing + proxies.refused + proxies.benched;
  const trouble = { text: need + delayed, word: "in trouble" };
  return {
    "/admin/proxies": troubled > 0 && { text: troubled, kind: "hold", icon: "pause", word: "in trouble" },
    "/admin/hosts": held > 0 && { text: held, kind: "bad", icon: "open", word: "on hold" },
    "/admin/stores": need > 0
      ? { ...trouble, kind: "bad", icon: "failed" }
      : delayed > 0 ? { ...trouble, kind: "hold", icon: "stale" } : { text: stores, word: "stores" },
    "/admin/products": products > 0 && { text: products, word: "products" },
  };
}
