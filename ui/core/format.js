// @ts-check
// Formats numbers, times and names. All pure.

export const NONE = "–";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const oneDecimal = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const twoDecimals = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** Counts from here on are shortened. */
const SHORT_FROM = 10_000_000;

/** A count or an id: `12,345`. @param {number | null | undefined} value */
export const count = (value) => (value === null || value === undefined ? NONE : minus(whole.format(value)));

/** A figure and its unit, short from ten million on: `["12.4", "M"]`. @param {number | null | undefined} value */
export function shortCount(value) {
  if (value === null || value === undefined || Math.abs(value) < SHORT_FROM) return [count(value), ""];
  return value < 1e9 ? [oneDecimal.format(value / 1e6), "M"] : [oneDecimal.format(value / 1e9), "B"];
}

/** `3.4`, and `340` from a hundred on. @param {number | null | undefined} value */
export function decimal(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  return minus(Math.abs(value) >= 100 ? whole.format(value) : oneDecimal.format(value));
}

/** A rate, of which a small one is no zero: `0.04`, `< 0.01`. @param {number | null | undefined} value */
export function rate(value) {
  if (value === 0) return "0";
  if (value === null || value === undefined || value >= 1) return decimal(value);
  return value < 0.01 ? "< 0.01" : twoDecimals.format(value);
}

/** The store of a task, in words. @param {{ dispensary_id?: number | null, dispensary_name?: string | null }} task */
export function storeText({ dispensary_id: id, dispensary_name: name }) {
  if (name) return name;
  return typeof id === "number" ? `store ${id}, deleted` : "all stores";
}

/** A share as `0.7 %`. @param {number} part @param {number} all */
export const share = (part, all) => (all > 0 ? `${oneDecimal.format((100 * part) / all)} %` : NONE);

/** `1 store`, `2 stores`. @param {number} number @param {string} one @param {string} [many] */
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** Cents as `$ 4.18`. @param {number | null | undefined} cents */
export const money = (cents) => (cents === null || cents === undefined ? NONE : `$ ${minus(twoDecimals.format(cents / 100))}`);

/** `5.6 MB`. @param {number | null | undefined} value */
export function bytes(value) {
  if (value === null || value === undefined) return NONE;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let left = value;
  while (left >= 1000 && unit < units.length - 1) {
    left /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? whole.format(left) : decimal(left)} ${units[unit]}`;
}

/** `2,140 ms`. @param {number | null | undefined} value */
export const milliseconds = (value) => (value === null || value === undefined ? NONE : `${whole.format(value)} ms`);

/** At most two units: `41 s`, `4 m 12 s`, `1 h 28 m`, `3 d 4 h`. @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return NONE;
  if (seconds < 1) return seconds > 0 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : "0 s";
  if (seconds < 10) return `${decimal(seconds)} s`;
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3600) return two(rounded, 60, "m", 1, "s");
  if (rounded < 86_400) return two(rounded, 3600, "h", 60, "m");
  return two(rounded, 86_400, "d", 3600, "h");
}

/** A time ago or ahead, at a glance: `8 s`, `41 min`, `1 h 28 m`, `3 d`. @param {number} seconds not negative */
export function age(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 10 * 3600) return two(seconds, 3600, "h", 60, "m");
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${count(Math.floor(seconds / 86_400))} d`;
}

/** @param {number} seconds @param {number} large @param {string} unit @param {number} small @param {string} rest */
function two(seconds, large, unit, small, rest) {
  const left = Math.floor((seconds % large) / small);
  return `${count(Math.floor(seconds / large))} ${unit}${left ? ` ${left} ${rest}` : ""}`;
}

/** `22 Nov 2026 14:32:07 UTC`. @param {string | number} time */
export function exactTime(time) {
  const at = new Date(time);
  return `${dayAndYear(at)} ${exactClockTime(at)} UTC`;
}

/** `22 Nov 14:32`. @param {string | number} time */
export const shortTime = (time) => `${day(time)} ${clockTime(time)}`;

/** `14:32`, in UTC. @param {string | number | Date} time */
export function clockTime(time) {
  const at = new Date(time);
  return `${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}`;
}

/** `14:32:07`, in UTC. @param {string | number | Date} time */
export const exactClockTime = (time) => `${clockTime(time)}:${pad(new Date(time).getUTCSeconds())}`;

/** `22 Nov`. @param {string | number | Date} time */
export function day(time) {
  const at = new Date(time);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
}

/** @param {Date} at */
const dayAndYear = (at) => `${day(at)} ${at.getUTCFullYear()}`;
/** @param {number} number */
const pad = (number) => String(number).padStart(2, "0");
/** @param {string} text */
const minus = (text) => text.replace("-", "−");

/** `Backing off` from `backing_off`. @param {string} word */
export function sentence(word) {
  const text = word.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A size of a product; platforms call the only one of a product N/A. @param {string | null | undefined} label */
export const sizeName = (label) => (!label || label === "N/A" ? "one size" : label);
