// Shared by the comparisons with sharp: sharp itself, the program under test, pictures, and distances between pictures.
//
// sharp is installed into a folder outside the repository: SHARP_DIR, or a temporary one.

import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARP = 'sharp@0.35.5';

export function loadSharp() {
  const folder = process.env.SHARP_DIR ?? mkdtempSync(join(tmpdir(), 'sharp-'));
  if (!existsSync(join(folder, 'node_modules', 'sharp'))) {
    execFileSync('npm', ['install', '--no-save', '--prefix', folder, SHARP], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const sharp = createRequire(join(folder, 'any.js'))('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

/** The program under test: `cargo build --release -p image-transform --example render`. */
export function renderer() {
  const target = process.env.CARGO_TARGET_DIR ?? 'target';
  const program = process.argv[2] ?? join(target, 'release', 'examples', 'render');
  if (!existsSync(program)) throw new Error(`${program} is missing: cargo build --release -p image-transform --example render`);
  return program;
}

export const temporaryFolder = () => mkdtempSync(join(tmpdir(), 'images-'));

/** A generator of numbers from 0 to 1, the same for a seed on every machine. */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function picture(width, height, channels, pixel) {
  const data = Buffer.alloc(width * height * channels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const values = pixel(x, y);
      for (let c = 0; c < channels; c++) data[(y * width + x) * channels + c] = Math.max(0, Math.min(255, Math.round(values[c])));
    }
  }
  return { data, width, height, channels };
}

/** Soft light, discs with hard edges, a fine texture: about what a photograph of a package holds. */
export function photograph(width, height, seed = 1) {
  const next = numbers(seed);
  const discs = Array.from({ length: 40 }, () => ({
    x: next() * width, y: next() * height, radius: (0.02 + 0.1 * next()) * Math.min(width, height),
    colour: [next() * 255, next() * 255, next() * 255],
  }));
  return picture(width, height, 3, (x, y) => {
    const disc = discs.find((one) => (x - one.x) ** 2 + (y - one.y) ** 2 < one.radius ** 2);
    const light = 40 * Math.sin(x / 91 + seed) + 40 * Math.cos(y / 73);
    const texture = 10 * Math.sin(x / 2.3) * Math.sin(y / 3.1) + 8 * (next() - 0.5);
    const base = disc?.colour ?? [120, 140, 110];
    return base.map((value, c) => value * 0.8 + light * (1 - 0.2 * c) + texture + 20);
  });
}

/** Lines and letters in few colours. */
export function drawing(width, height, channels = 3) {
  const colours = [[255, 255, 255, 255], [20, 30, 90, 255], [220, 40, 40, 255], [40, 160, 90, 255], [250, 200, 20, 255]];
  return picture(width, height, channels, (x, y) => {
    const ring = Math.floor(Math.hypot(x - width / 2, y - height / 2) / 23);
    const stroke = (x + 2 * y) % 61 < 4 || (Math.floor(x / 17) * 7 + Math.floor(y / 29) * 5) % 11 === 0;
    return stroke ? colours[1] : colours[ring % 5];
  });
}

/** A coloured shape with a soft edge on nothing. */
export function sticker(width, height) {
  return picture(width, height, 4, (x, y) => {
    const distance = Math.hypot((x - width / 2) / width, (y - height / 2) / height);
    const alpha = 255 * Math.min(1, Math.max(0, (0.45 - distance) * 12));
    return [200 + 50 * Math.sin(x / 19), 120 + 90 * Math.cos(y / 23), 255 * distance, alpha];
  });
}

export const gradient = (width, height) =>
  picture(width, height, 3, (x, y) => [(255 * x) / width, (255 * y) / height, (255 * (x + y)) / (width + height)]);

export async function rawPixels(sharp, bytes) {
  const { data, info } = await sharp(bytes, { failOn: 'none' }).toColourspace('srgb').ensureAlpha().raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Mean absolute difference of the channels (colours weighed by alpha) and SSIM of luma on white, and of alpha. */
export function distance(one, other) {
  const width = Math.min(one.width, other.width);
  const height = Math.min(one.height, other.height);
  let sum = 0;
  const planes = [one, other].map((image) => {
    const luma = new Float64Array(width * height);
    const alpha = new Float64Array(width * height);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const from = (y * image.width + x) * 4;
        const [r, g, b, a] = image.data.subarray(from, from + 4);
        const onWhite = (value) => (value * a) / 255 + 255 - a;
        luma[y * width + x] = 0.299 * onWhite(r) + 0.587 * onWhite(g) + 0.114 * onWhite(b);
        alpha[y * width + x] = a;
      }
    }
    return { luma, alpha };
  });
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [a, b] = [one, other].map((image) => (y * image.width + x) * 4);
      const [alphaA, alphaB] = [one.data[a + 3], other.data[b + 3]];
      for (let c = 0; c < 3; c++) sum += Math.abs(one.data[a + c] * alphaA - other.data[b + c] * alphaB) / 255;
      sum += Math.abs(alphaA - alphaB);
    }
  }
  const similar = (plane) => ssim(planes[0][plane], planes[1][plane], width, height);
  return { difference: sum / (width * height * 4), ssim: Math.min(similar('luma'), similar('alpha')) };
}

/** Mean SSIM over windows of 7 x 7 pixels. */
function ssim(one, other, width, height) {
  const side = Math.min(7, width, height);
  const count = side * side;
  const sums = [one, other].map((plane) => integral(width, height, (i) => plane[i]));
  const squares = [one, other].map((plane) => integral(width, height, (i) => plane[i] ** 2));
  const products = integral(width, height, (i) => one[i] * other[i]);
  const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
  let total = 0;
  let windows = 0;
  for (let y = 0; y + side <= height; y++) {
    for (let x = 0; x + side <= width; x++) {
      const mean = (table) => area(table, width, x, y, side) / count;
      const [ma, mb] = [mean(sums[0]), mean(sums[1])];
      const va = mean(squares[0]) - ma * ma;
      const vb = mean(squares[1]) - mb * mb;
      const covariance = mean(products) - ma * mb;
      total += ((2 * ma * mb + c1) * (2 * covariance + c2)) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
      windows++;
    }
  }
  return total / windows;
}

function integral(width, height, value) {
  const table = new Float64Array((width + 1) * (height + 1));
  for (let y = 0; y < height; y++) {
    let row = 0;
    for (let x = 0; x < width; x++) {
      row += value(y * width + x);
      table[(y + 1) * (width + 1) + x + 1] = table[y * (width + 1) + x + 1] + row;
    }
  }
  return table;
}

function area(table, width, x, y, side) {
  const at = (dx, dy) => table[(y + dy) * (width + 1) + x + dx];
  return at(side, side) - at(0, side) - at(side, 0) + at(0, 0);
}
