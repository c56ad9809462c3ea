// @ts-check
// The lines that differ between two texts, with some around them; and products by id in a payload's document.
// All pure.

/** Lines before and after a difference. */
const AROUND = 3;
/** Maximum size of the comparison between equal beginnings and ends; a larger rest is shown as one change. */
const MAX_CELLS = 1_000_000;

/** A part of a document, such as a product. @typedef {Record<string, unknown>} Json */
/**
 * A line; the part from `from` to `to` differs.
 * @typedef {{ number: number, mark: " " | "−" | "+" | "…", text: string, from: number, to: number }} Line
 */

/**
 * @param {string[]} before
 * @param {string[]} after
 * @returns {{ before: Line[], after: Line[] }}
 */
export function sides(before, after) {
  const { left, right } = unequal(before, after);
  return { before: shown(before, after, left, right, "−"), after: shown(after, before, right, left, "+") };
}

/** The lines without an equal one on the other side. @param {string[]} a @param {string[]} b */
function unequal(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [left, right] = [new Set(range(head, a.length - tail)), new Set(range(head, b.length - tail))];
  if (left.size * right.size <= MAX_CELLS) removeCommon(a, b, left, right, head);
  return { left, right };
}

/**
 * Removes the longest common sequence from both.
 * @param {string[]} a
 * @param {string[]} b
 * @param {Set<number>} left
 * @param {Set<number>} right
 * @param {number} head
 */
function removeCommon(a, b, left, right, head) {
  const [rows, columns] = [left.size, right.size];
  const table = Array.from({ length: rows + 1 }, () => new Uint16Array(columns + 1));
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      table[row][column] = a[head + row] === b[head + column]
        ? table[row + 1][column + 1] + 1
        : Math.max(table[row + 1][column], table[row][column + 1]);
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (a[head + row] === b[head + column]) {
      left.delete(head + row);
      right.delete(head + column);
      row += 1;
      column += 1;
    } else if (table[row + 1][column] >= table[row][column + 1]) row += 1;
    else column += 1;
  }
}

/**
 * The lines of one side.
 * @param {string[]} lines
 * @param {string[]} others
 * @param {Set<number>} changed
 * @param {Set<number>} othersChanged
 * @param {"−" | "+"} mark
 */
function shown(lines, others, changed, othersChanged, mark) {
  const places = [...changed, ...placesOf(lines.length, changed, othersChanged)];
  const near = new Set(places.flatMap((at) => range(Math.max(0, at - AROUND), Math.min(lines.length, at + AROUND + 1))));
  const partner = partners(changed, othersChanged);
  /** @type {Line[]} */
  const all = [];
  let last = -1;
  for (const at of [...near].sort((a, b) => a - b)) {
    if (at > last + 1) all.push({ number: 0, mark: "…", text: "", from: 0, to: 0 });
    const other = partner.get(at);
    all.push({
      number: at + 1,
      text: lines[at],
      ...(changed.has(at) ? { mark, ...different(lines[at], other === undefined ? "" : others[other]) } : { mark: " ", from: 0, to: 0 }),
    });
    last = at;
  }
  return all;
}

/**
 * Positions at which the other side has lines that this one lacks.
 * @param {number} length
 * @param {Set<number>} changed
 * @param {Set<number>} othersChanged
 */
function placesOf(length, changed, othersChanged) {
  const places = [];
  let [at, other] = [0, 0];
  while (at < length) {
    if (othersChanged.has(other)) {
      places.push(at);
      other += 1;
    } else if (changed.has(at)) at += 1;
    else {
      at += 1;
      other += 1;
    }
  }
  return places;
}

/** Pairs of changed lines at the same position, in order. @param {Set<number>} changed @param {Set<number>} othersChanged */
function partners(changed, othersChanged) {
  const all = new Map();
  const [mine, theirs] = [runs(changed), runs(othersChanged)];
  let [gone, come] = [0, 0];
  for (let at = 0, other = 0; at < mine.length && other < theirs.length; ) {
    const [here, there] = [mine[at].from - gone, theirs[other].from - come];
    if (here === there) {
      range(0, Math.min(mine[at].length, theirs[other].length)).forEach((each) => all.set(mine[at].from + each, theirs[other].from + each));
    }
    if (here <= there) gone += mine[at++].length;
    if (there <= here) come += theirs[other++].length;
  }
  return all;
}

/** @param {Set<number>} changed */
function runs(changed) {
  /** @type {{ from: number, length: number }[]} */
  const all = [];
  for (const at of [...changed].sort((a, b) => a - b)) {
    const last = all[all.length - 1];
    if (last && last.from + last.length === at) last.length += 1;
    else all.push({ from: at, length: 1 });
  }
  return all;
}

/** The part of a line that differs from another. @param {string} text @param {string} other */
function different(text, other) {
  let from = 0;
  while (from < text.length && from < other.length && text[from] === other[from]) from += 1;
  let tail = 0;
  while (tail < text.length - from && tail < other.length - from &&
    text[text.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  return other ? wholeWords(text, from, text.length - tail) : { from: 0, to: 0 };
}

/** Extends a changed part to all digits of its number. @param {string} text @param {number} from @param {number} to */
function wholeWords(text, from, to) {
  const isWord = (/** @type {number} */ at) => /[\w.-]/.test(text[at] ?? "");
  while (from > 0 && isWord(from - 1)) from -= 1;
  while (to > from && isWord(to)) to += 1;
  return { from, to };
}

/** @param {number} from @param {number} to exclusive */
const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);

/** Maximum depth of lists of products in a page of a menu. */
const DEEPEST = 6;

/**
 * The products of a document by the platform's id; the first one of repeated ids.
 * @param {Json} document
 * @returns {Map<string, Json>}
 */
export function productsOf(document) {
  const all = new Map();
  collect(document.pages ?? document, 0, all);
  return all;
}

/** @param {unknown} value @param {number} depth @param {Map<string, Json>} all */
function collect(value, depth, all) {
  if (depth > DEEPEST || typeof value !== "object" || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    if (name !== "products" || !Array.isArray(each)) {
      collect(each, depth + 1, all);
      continue;
    }
    for (const product of each) {
      const id = product?._id ?? product?.id;
      if (typeof id === "string" && !all.has(id)) all.set(id, product);
    }
  }
}

/** Keys of the first level whose values differ. @param {Json | undefined} a @param {Json | undefined} b */
export function keysThatDiffer(a, b) {
  const keys = [...new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])];
  return { all: keys.length, differ: keys.filter((key) => JSON.stringify(a?.[key]) !== JSON.stringify(b?.[key])).length };
}
