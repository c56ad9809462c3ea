// @ts-check
// The dashboard. In: the address. Out: its page, in the frame. A page is loaded when it is first opened.

import { setUnauthenticatedListener } from "./core/api.js";
import { link } from "./core/base.js";
import { html, render, useEffect, useRef, useState } from "./core/html.js";
import { currentPath, followLinks, placeBefore, useLocation } from "./core/router.js";
import { loginAddress, openSession } from "./core/session.js";
import { startStream } from "./core/stream.js";
import { PAGES } from "./pages.js";
import { Questions } from "./parts/dialog.js";
import { Frame } from "./parts/frame.js";
import { Keys } from "./parts/keys.js";
import { Bones, Empty, Failure } from "./parts/panel.js";
import { startTicking } from "./parts/time.js";
import { Toasts } from "./parts/toast.js";

/** @import { ComponentType } from "./vendor/preact.js" */
/** @typedef {{ id: number | null, query: URLSearchParams }} PageProperties */

/** @param {string} path */
function pageOf(path) {
  for (const page of PAGES) {
    const found = new RegExp(`^${page.path.replace(":id", "(\\d{1,18})")}$`).exec(path);
    if (found) return { name: page.name, id: found[1] ? Number(found[1]) : null };
  }
  return null;
}

/** Pages that were loaded, by their names. @type {Map<string, ComponentType<PageProperties>>} */
const pages = new Map();

function App() {
  const { path, query } = useLocation();
  const page = pageOf(path);
  const hasFailed = useLoading(page?.name);
  useNewPage(path);
  if (!page) return html`<${Frame} path=${path}><${NoPage} path=${path} /></${Frame}>`;
  const Page = pages.get(page.name);
  return html`<${Frame} path=${path}>
    ${Page && html`<${Page} key=${path} id=${page.id} query=${query} />`}
    ${!Page && (hasFailed ? html`<${Unloaded} />` : html`<${Bones} />`)}
  </${Frame}>`;
}

/**
 * Loads a page that is shown for the first time. One that comes late, while another is shown, changes nothing.
 * @param {string | undefined} name
 * @returns {boolean} whether it could not be loaded
 */
function useLoading(name) {
  const [failed, fail] = useState(/** @type {string | null} */ (null));
  const [, draw] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    fail(null);
    if (!name || pages.has(name)) return undefined;
    Promise.all([import(`./pages/${name}.js`), name === "overview" || addStyles()]).then(
      ([{ Page }]) => {
        pages.set(name, Page);
        draw((times) => times + 1);
      },
      () => isCurrent && fail(name),
    );
    return () => void (isCurrent = false);
  }, [name]);
  return failed !== null && failed === name;
}

/** @type {Promise<unknown> | null} */
let styles = null;

/** Adds the styles of single pages, once: the overview, which most people open first, needs none of them. */
function addStyles() {
  styles ??= new Promise((resolve, reject) => {
    const sheet = document.createElement("link");
    sheet.rel = "stylesheet";
    sheet.href = new URL("css/pages.css", import.meta.url).href;
    sheet.onload = resolve;
    sheet.onerror = () => {
      styles = null;
      sheet.remove();
      reject(new Error("the styles could not be loaded"));
    };
    document.head.append(sheet);
  });
  return styles;
}

/**
 * Begins another page at its top, where screen readers announce it, and one that is shown again where it was left, at the
 * link that was opened there. The first one begins at its top anyway.
 * @param {string} path
 */
function useNewPage(path) {
  const isFirst = useRef(true);
  useEffect(() => {
    const isLoaded = isFirst.current;
    isFirst.current = false;
    const main = document.getElementById("main");
    if (isLoaded || !main) return undefined;
    const place = placeBefore();
    if (!place) scrollTo(0, 0);
    main.focus({ preventScroll: true });
    return place?.href ? later(({ focusLink }) => focusLink(main, place)) : undefined;
  }, [path]);
  const place = placeBefore();
  useEffect(() => {
    const main = document.getElementById("main");
    return place && main ? later(({ returnTo }) => returnTo(main, place)) : undefined;
  }, [place]);
}

/**
 * Does something with the module of places once it is loaded.
 * @param {(places: typeof import("./core/place.js")) => (() => void) | undefined} act answers how it is ended
 * @returns {() => void} ends it
 */
function later(act) {
  let isOver = false;
  /** @type {(() => void) | undefined} */
  let end;
  import("./core/place.js").then((places) => (isOver ? undefined : (end = act(places))), () => {});
  return () => {
    isOver = true;
    end?.();
  };
}

/** @param {{ path: string }} properties */
function NoPage({ path }) {
  useEffect(() => {
    document.title = "No such page · drover";
    document.documentElement.dataset.ready = "1";
  }, []);
  return html`<div class="panel">
    <${Empty} icon="search" title="There is no such page"><p class="mono">${path}</p>
      <a class="btn" href=${link("/admin")}>Overview</a></${Empty}></div>`;
}

const Unloaded = () =>
  html`<div class="panel"><${Failure} what="This page"
    error=${{ status: 0, title: "The server does not answer", detail: "", requestId: "" }}
    onRetry=${() => location.reload()} /></div>`;

async function start() {
  const root = /** @type {HTMLElement} */ (document.getElementById("app"));
  if (currentPath() === "/login") {
    const { Login } = await import("./pages/login.js");
    return render(html`<${Login} />`, root);
  }
  setUnauthenticatedListener(() => location.replace(loginAddress()));
  await openSession().catch(() => {});
  followLinks();
  startStream();
  startTicking();
  render(html`<${App} /><${Toasts} /><${Questions} /><${Keys} />`, root);
}

void start();
