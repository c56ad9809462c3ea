// @ts-check
// Lists that people write: one entry a line, or CSV below a header. In: text. Out: entries and faults, each with
// its line, counted from 1 as an editor does. The rules are those of the command line.

/** @typedef {{ line: number, text: string }} Line */
/** @typedef {{ field: string, detail: string }} Fault the field names the line */

/** Lines that hold something; a spreadsheet's first line `sep=,` and rows of empty cells do not. @param {string} text @returns {Line[]} */
export function linesOf(text) {
  const filled = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .map((each, at) => ({ line: at + 1, text: each.trim() }))
    .filter((each) => !isEmpty(each.text));
  return filled.slice(/^"?sep=,"?,*$/i.test(filled[0]?.text ?? "") ? 1 : 0);
}

/** Without the comments (`#`): those of a list without a header, or above it. @param {Line[]} lines */
export const withoutComments = (lines) => lines.filter(({ text }) => !text.startsWith("#"));

/** Whether a line has no cell with a text. @param {string} line */
const isEmpty = (line) => /^[",\s]*$/.test(line) && (line === "" || (cellsOf(line)?.every((cell) => cell === "") ?? false));

/** @param {number} line */
export const lineName = (line) => `line ${line}`;

/** The cells of a line, trimmed; null: it is no CSV. @param {string} line @returns {string[] | null} */
export function cellsOf(line) {
  /** @type {string[]} */
  const cells = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)/y;
  for (;;) {
    const found = cell.exec(line);
    if (!found) return null;
    cells.push(unescaped((found[1]?.replaceAll('""', '"') ?? found[2]).trim()));
    if (found[3] === "") return cells;
  }
}

/** Without the apostrophe that an export writes before what a spreadsheet reads as a formula. @param {string} cell */
const unescaped = (cell) => (/^''*[=+\-@\t\r]/.test(cell) && !/^''*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? cell.slice(1) : cell);

/** The names of a header in lower case; empty where the line is none. @param {Line | undefined} line */
export const headerOf = (line) => fitted((line && cellsOf(line.text)?.map((name) => name.toLowerCase())) || null, 0) ?? [];

/** Without the empty cells behind the first `least`, which a spreadsheet adds. @param {string[] | null} cells @param {number} least */
const fitted = (cells, least) => cells && cells.slice(0, Math.max(least, cells.findLastIndex((cell) => cell !== "") + 1));

/**
 * The rows below a header, without the empty cells.
 * @param {Line[]} lines
 * @param {{ known: string[], required: string[] }} columns
 * @returns {{ entries: { line: number, value: Record<string, string> }[], faults: Fault[] }}
 */
export function rowsOf(lines, { known, required }) {
  const [header] = withoutComments(lines);
  const names = headerOf(header);
  const wrong = headerFault(names, known, required);
  if (wrong) return { entries: [], faults: [{ field: lineName(header?.line ?? 1), detail: wrong }] };
  /** @type {{ line: number, value: Record<string, string> }[]} */
  const entries = [];
  /** @type {Fault[]} */
  const faults = [];
  for (const { line, text } of lines.slice(lines.indexOf(header) + 1)) {
    const cells = fitted(cellsOf(text), names.length);
    if (cells?.length !== names.length) {
      if (text.startsWith("#")) continue;
      const detail = cells ? `its number of cells is ${cells.length}, but the header's is ${names.length}` : "a quote is not closed";
      faults.push({ field: lineName(line), detail });
      continue;
    }
    entries.push({ line, value: Object.fromEntries(names.map((name, at) => [name, cells[at]]).filter(([, cell]) => cell !== "")) });
  }
  return { entries, faults };
}

/** @param {string[]} names @param {string[]} known @param {string[]} required */
function headerFault(names, known, required) {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) return `unknown column '${unknown}': the columns are ${known.join(", ")}`;
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) return `column '${twice}' appears twice`;
  const missing = required.find((name) => !names.includes(name));
  return missing === undefined ? "" : `the column '${missing}' is missing`;
}
