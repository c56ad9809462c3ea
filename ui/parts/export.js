// @ts-check
// The menu by which a page's rows are exported: links to files, which the browser fetches with its session.

import { pathOf } from "../core/api.js";
import { address } from "../core/base.js";
import { html } from "../core/html.js";
import { Menu } from "./actions.js";

/** @import { Value } from "../types/requests" */

/** @typedef {"changes" | "option_history" | "options" | "price_changes" | "products" | "stores" | "unit_prices"} Dataset */

/** @type {[string, string][]} */
const FORMATS = [["csv", "CSV"], ["jsonl", "JSON lines"], ["parquet", "Parquet"]];

/**
 * @param {object} properties
 * @param {[Dataset, string, Record<string, Value>?][]} properties.datasets each with its name in the menu, and with filters of its own;
 * of a single one, the formats say enough
 * @param {string} properties.of the rows, for screen readers
 * @param {Record<string, Value>} [properties.filters] of all, as the API names them
 */
export function Export({ datasets, of, filters }) {
  const files = datasets.flatMap(([dataset, name, own]) =>
    FORMATS.map(([format, word]) => ({
      word: datasets.length > 1 ? `${name}, ${word}` : word,
      href: address(pathOf("/api/export/{dataset}", { dataset, ...filters, ...own, format })),
      download: `${dataset}.${format}`,
    })));
  return html`<${Menu} word="Export" label=${`Export ${of}`} actions=${files} />`;
}
