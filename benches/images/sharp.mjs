// CPU time a picture beside sharp, both in one run that goes back and forth between them, medians of five.
//
//   cargo build --release -p image-transform --example render
//   node benches/images/sharp.mjs [<path of the example>]
//
// Time is user + system time of a process that does the work several times, less that of a process that does it once; so
// neither the start of node nor that of our program counts. Ends with 1 where a bar is missed.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { loadSharp, photograph, renderer, temporaryFolder } from './common.mjs';

const ROUNDS = 5;
const REPEATS = 8;

const WORK = [
  { name: 'stored WebP -> 200 px WebP', input: 'webp', query: 'w=200', bar: 0.65 },
  { name: 'stored WebP -> 400 px WebP', input: 'webp', query: 'w=400', bar: 0.65 },
  { name: 'stored WebP -> 200 px JPEG', input: 'webp', query: 'w=200&format=jpeg', bar: 0.65 },
  { name: 'stored WebP -> 400 px JPEG', input: 'webp', query: 'w=400&format=jpeg', bar: 0.65 },
  { name: 'stored WebP -> 200 px PNG', input: 'webp', query: 'w=200&format=png', bar: 0.65 },
  { name: 'stored WebP -> 400 px PNG', input: 'webp', query: 'w=400&format=png', bar: 0.65 },
  { name: 'JPEG 1200 px -> stored WebP', input: 'jpeg', query: 'stored', bar: 0.95 },
];

if (process.argv[2] === '--sharp') {
  await runSharp(process.argv[3], process.argv[4], Number(process.argv[5]));
} else {
  await compare();
}

/** What the process for sharp does: the work, `times` times. */
async function runSharp(path, query, repeats) {
  const sharp = loadSharp();
  const input = readFileSync(path);
  const words = Object.fromEntries(new URLSearchParams(query === 'stored' ? '' : query));
  for (let i = 0; i < repeats; i++) {
    const image = sharp(input).autoOrient();
    if (words.w) image.resize({ width: Number(words.w), withoutEnlargement: true });
    await { png: () => image.png(), jpeg: () => image.jpeg({ quality: 80 }), webp: () => image.webp({ quality: 80 }) }[words.format ?? 'webp']()
      .toBuffer();
  }
}

async function compare() {
  const folder = temporaryFolder();
  const sharp = loadSharp();
  const program = renderer();
  const pictures = await Promise.all([1, 2, 3].map((seed) => files(sharp, folder, seed)));
  let missed = 0;
  console.log('| work | sharp, ms | ours, ms | ratio | bar |\n|---|---|---|---|---|');
  for (const { name, input, query, bar } of WORK) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      const path = pictures[round % pictures.length][input];
      const script = fileURLToPath(import.meta.url);
      const theirs = perPicture((count) => [process.execPath, [script, '--sharp', path, query, `${count}`]]);
      const ours = perPicture((count) => [program, ['--repeat', `${count}`, path, join(folder, 'out'), query]]);
      rounds.push({ theirs, ours, ratio: ours / theirs });
    }
    const ratio = median(rounds.map((round) => round.ratio));
    if (ratio > bar) missed++;
    const [theirs, ours] = ['theirs', 'ours'].map((side) => median(rounds.map((round) => round[side])).toFixed(1));
    console.log(`| ${name} | ${theirs} | ${ours} | ${ratio.toFixed(2)} | ${bar}${ratio > bar ? ' missed' : ''} |`);
  }
  rmSync(folder, { recursive: true });
  process.exitCode = missed > 0 ? 1 : 0;
}

async function files(sharp, folder, seed) {
  const { data, width, height, channels } = photograph(1200, 1200, seed);
  const paths = { webp: join(folder, `${seed}.webp`), jpeg: join(folder, `${seed}.jpg`) };
  const image = () => sharp(data, { raw: { width, height, channels } });
  writeFileSync(paths.webp, await image().webp({ quality: 80 }).toBuffer());
  writeFileSync(paths.jpeg, await image().jpeg({ quality: 90 }).toBuffer());
  return paths;
}

/** Milliseconds of CPU for one picture. */
function perPicture(command) {
  const [many, one] = [REPEATS + 1, 1].map((count) => cpuTime(...command(count)));
  return (many - one) / REPEATS;
}

/** Milliseconds of user and system time of a process, as its shell sees them. */
function cpuTime(program, args) {
  const line = 'TIMEFORMAT="%U %S"; time "$0" "$@" > /dev/null';
  const { stderr, status } = spawnSync('bash', ['-c', line, program, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const [user, system] = stderr.trim().split('\n').pop().split(' ').map(Number);
  return 1000 * (user + system);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
