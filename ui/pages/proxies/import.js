// @ts-check
// The import of proxies: one a line, or CSV with the columns of `drover proxies import`.

import { pathOf, send } from "../../core/api.js";
import { headerOf, lineName, rowsOf, withoutComments } from "../../core/csv.js";
import { count, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { PROTOCOLS } from "../../core/vocabulary.js";
import { ImportDialog } from "../../parts/import.js";

/** @import { Line } from "../../core/csv.js" */
/** @import { Imported, NewProxy } from "../../types/api" */

const COLUMNS = {
  known: ["host", "port", "protocol", "username", "password", "state_code", "timezone"],
  required: ["host", "port"],
};

/** @param {{ onClose: () => void }} properties */
export const ImportProxies = ({ onClose }) =>
  html`<${ImportDialog} title="Import proxies" label="One a line, or CSV" onClose=${onClose} read=${read} done=${doneText}
    placeholder="http://user:password@203.0.113.14:3128"
    help=${`host:port, host:port:user:password, or an address with http, https or socks5. Columns of CSV: ${COLUMNS.known.join(", ")}`}
    send=${(/** @type {(string | NewProxy)[]} */ proxies, /** @type {boolean} */ isCheck) =>
      send("POST", pathOf("/api/proxies/import"), { proxies, dry_run: isCheck })} />`;

/** A first line that names the column `host` makes it CSV. @param {Line[]} lines */
function read(lines) {
  const plain = withoutComments(lines);
  if (!headerOf(plain[0]).includes("host")) return { entries: plain.map(({ line, text }) => ({ line, value: text })), faults: [] };
  const { entries, faults } = rowsOf(lines, COLUMNS);
  for (const { value } of entries) if (value.protocol) value.protocol = value.protocol.toLowerCase();
  const wrong = entries.flatMap(({ line, value }) => faultsOf(value).map((detail) => ({ field: lineName(line), detail })));
  return { entries: entries.map(({ line, value }) => ({ line, value: readable(value) })), faults: [...faults, ...wrong] };
}

/** @param {string | undefined} port */
const isPort = (port) => port !== undefined && /^\d{1,5}$/.test(port) && Number(port) <= 65_535;

/** The fields that the API cannot read, in words. @param {Record<string, string>} row */
function faultsOf({ port, protocol }) {
  const portFault = port === undefined ? "the port is missing" : !isPort(port) && "the port is not a number from 1 to 65535";
  const protocolFault = protocol !== undefined && !PROTOCOLS.includes(protocol) && `unknown protocol: the protocols are ${PROTOCOLS.join(", ")}`;
  return [portFault, protocolFault].filter((fault) => fault !== false);
}

/** In place of what it cannot read, what it takes, so that it finds the other faults. @param {Record<string, string>} row */
const readable = ({ port, protocol, ...row }) =>
  /** @type {NewProxy} */ ({ host: "", ...row, port: isPort(port) ? Number(port) : 1, ...(PROTOCOLS.includes(protocol) && { protocol }) });

/** @param {Imported[]} answers */
function doneText(answers) {
  const sum = (/** @type {"created" | "updated" | "unchanged"} */ name) => answers.reduce((all, each) => all + (each[name] ?? 0), 0);
  return `${plural(sum("created"), "proxy", "proxies")} imported, ${count(sum("updated"))} changed, ${count(sum("unchanged"))} as before`;
}
