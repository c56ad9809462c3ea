// @ts-check
// The memory and CPU of pods while their page is open, which the server does not keep. In: the pods with each
// heartbeat. Out: a chart of one pod.

import { now } from "../../core/clock.js";
import { clockTime } from "../../core/format.js";
import { html, useEffect } from "../../core/html.js";
import { Chart, Key, timeAxis } from "../../parts/chart.js";
import { Steps } from "../../parts/steps.js";

/** @import { Pod } from "../../parts/pods.js" */
/** @typedef {{ at: number, memory: number, cpu: number }} Sample */

const KEPT_MS = 20 * 60_000;
/** Minimum time between two samples. */
const APART_MS = 5_000;
/** From this on the page was away, or the pod silent: the line is broken. */
const GAP_MS = 60_000;
/** Minimum time of the chart. */
const MIN_SHOWN_MS = 60_000;
const TICKS = [0, 50, 100];

/** Samples of each pod that was seen last, oldest first. @type {Map<string, Sample[]>} */
const kept = new Map();

/** Keeps a sample of each pod that has sent a heartbeat since the last one. @param {Pod[]} pods */
export function useSamples(pods) {
  // a pod is the same object until one of its workers changes
  useEffect(() => note(pods), pods);
}

/** @param {Pod[]} pods none while they are read */
function note(pods) {
  if (pods.length === 0) return;
  const at = now();
  for (const name of kept.keys()) if (!pods.some((pod) => pod.name === name)) kept.delete(name);
  for (const { name, memory, cpu } of pods) {
    const samples = (kept.get(name) ?? []).filter((sample) => sample.at > at - KEPT_MS);
    const last = samples[samples.length - 1];
    if (!last || at - last.at >= APART_MS) samples.push({ at, memory, cpu });
    kept.set(name, samples);
  }
}

/** @param {{ pod: Pod }} properties */
export function Usage({ pod }) {
  const end = now();
  const samples = (kept.get(pod.name) ?? []).filter(({ at }) => at > end - KEPT_MS);
  const first = samples[0]?.at ?? end;
  const begin = Math.min(first, end - MIN_SHOWN_MS);
  const all = [...samples, { at: end, memory: pod.memory, cpu: pod.cpu }];
  const span = end - first > KEPT_MS - GAP_MS ? "last 20 minutes" : `since this page was opened at ${clockTime(first)}`;
  const words = `memory ${rangeOf(all.map(({ memory }) => memory))}, CPU ${rangeOf(all.map(({ cpu }) => cpu))}`;
  return html`<${Chart} title="Memory and CPU" unit=${`%, ${span}`} ticks=${TICKS} axis=${timeAxis(begin, end)} height=${5}
    label=${`${pod.name}, ${span}: ${words}`}
    legend=${html`<${Key} kind="c1">memory ${Math.round(pod.memory)} %</${Key}><${Key} kind="c3">CPU ${Math.round(pod.cpu)} %</${Key}>`}>
    <${Steps} points=${pointsOf(all, begin, ({ memory }) => memory)} top=${100} kind="c1" />
    <${Steps} points=${pointsOf(all, begin, ({ cpu }) => cpu)} top=${100} kind="c3 dash" />
  </${Chart}>`;
}

/** @param {number[]} values */
function rangeOf(values) {
  const [least, most] = [Math.round(Math.min(...values)), Math.round(Math.max(...values))];
  return least === most ? `${least} %` : `${least} to ${most} %`;
}

/**
 * The values that `Steps` draws, broken in gaps.
 * @param {Sample[]} samples
 * @param {number} begin
 * @param {(sample: Sample) => number} valueOf
 */
function pointsOf(samples, begin, valueOf) {
  const length = samples[samples.length - 1].at - begin;
  const share = (/** @type {number} */ at) => (at - begin) / length;
  return samples.flatMap((sample, nth) => {
    const next = samples[nth + 1];
    const point = { at: share(sample.at), value: valueOf(sample) };
    return next && next.at - sample.at > GAP_MS ? [point, { at: share(sample.at + APART_MS), value: null }] : [point];
  });
}
