// @ts-check
// State of a page in the document: its title, and that it shows its first data.

import { useEffect } from "../core/html.js";

/**
 * @param {string} title
 * @param {...{ loading: boolean }} answers the page is ready once each has data or an error
 */
export function usePage(title, ...answers) {
  const isReady = answers.every((answer) => !answer.loading);
  useEffect(() => {
    document.title = `${title} · drover`;
  }, [title]);
  useEffect(() => {
    if (isReady) document.documentElement.dataset.ready = "1";
  }, [isReady]);
}
