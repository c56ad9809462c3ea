// Compares renderings with those of sharp, and writes the distances to goldens.json beside this file.
//
//   cargo build --release -p image-transform --example render
//   node benches/images/goldens.mjs [<path of the example>]
//
// Ends with 1 where a case lies outside the tolerance:
//   size      one pixel
//   pixels    before lossy coding; SSIM >= 0.97, or within 2.5 x the spread of sharp's own two ways to decode (with and
//             without reduction while decoding); mean difference <= 2 levels, or within 2.5 x that spread
//   coded     what lossy coding costs in SSIM is at most 0.02 more than in the worse of sharp's two ways
//   bytes     at most 25 % above the larger file of sharp's two ways
//
// Left out: one side that shrinks while the other grows (`fit=fill&enlarge=1`), where libvips moves the picture by some pixels.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { distance, drawing, gradient, loadSharp, photograph, rawPixels, renderer, sticker, temporaryFolder } from './common.mjs';

const MIN_SSIM = 0.97;
const MAX_DIFFERENCE = 2;
const SPREADS = 2.5;
const MAX_CODED_LOSS = 0.02;
const MAX_BYTES_RATIO = 1.25;
/** Files below this size are mostly header. */
const MIN_COUNTED_BYTES = 400;

const sharp = loadSharp();
const program = renderer();
const folder = temporaryFolder();

const raw = ({ data, width, height, channels }) => sharp(data, { raw: { width, height, channels } });

async function inputs() {
  const photo = photograph(1200, 1200);
  const wide = photograph(1333, 777, 5);
  const turned = photograph(400, 300, 9);
  const found = {
    photo: await raw(photo).webp({ quality: 80 }).toBuffer(),
    wide: await raw(wide).webp({ quality: 80 }).toBuffer(),
    drawing: await raw(drawing(900, 700)).webp({ quality: 80 }).toBuffer(),
    'drawing-lossless': await raw(drawing(640, 480)).webp({ lossless: true }).toBuffer(),
    sticker: await raw(sticker(600, 500)).webp({ quality: 80 }).toBuffer(),
    gradient: await raw(gradient(511, 257)).webp({ quality: 90 }).toBuffer(),
    tall: await raw(photograph(90, 1300, 3)).webp({ quality: 80 }).toBuffer(),
    small: await raw(photograph(64, 48, 4)).webp({ quality: 80 }).toBuffer(),
    'photo-jpeg': await raw(photo).jpeg({ quality: 90 }).toBuffer(),
    'photo-progressive': await raw(wide).jpeg({ quality: 85, progressive: true }).toBuffer(),
    'gray-jpeg': await raw(wide).toColourspace('b-w').jpeg({ quality: 90 }).toBuffer(),
    'photo-444': await raw(turned).jpeg({ quality: 90, chromaSubsampling: '4:4:4' }).toBuffer(),
    'photo-p3': await raw(turned).withIccProfile('p3').jpeg({ quality: 92 }).toBuffer(),
    'sticker-png': await raw(sticker(501, 403)).png().toBuffer(),
    'palette-png': await raw(drawing(400, 300)).png({ palette: true }).toBuffer(),
    'deep-png': await raw(gradient(300, 200)).toColourspace('rgb16').png().toBuffer(),
    'gray-png': await raw(wide).toColourspace('b-w').png().toBuffer(),
    'drawing-gif': await raw(drawing(320, 240)).gif().toBuffer(),
  };
  for (let orientation = 2; orientation <= 8; orientation++) {
    found[`turned-${orientation}`] = await raw(turned).withMetadata({ orientation }).jpeg({ quality: 90 }).toBuffer();
  }
  return found;
}

const STORED_INPUTS = ['photo-jpeg', 'photo-progressive', 'gray-jpeg', 'photo-444', 'photo-p3', 'sticker-png', 'palette-png',
  'deep-png', 'gray-png', 'drawing-gif', 'turned-3', 'turned-6'];

const QUERIES = {
  photo: ['w=200', 'w=400', 'w=401', 'w=799', 'w=1100', 'h=100', 'w=50', 'q=50', 'w=400&q=30', 'w=400&q=95', 'w=400&format=jpeg',
    'w=200&format=jpeg&q=60', 'w=400&format=png', 'w=200&format=png', 'w=300&h=200&fit=cover', 'w=301&h=199&fit=cover',
    'w=300&h=200&fit=contain', 'w=300&h=200&fit=contain&bg=336699', 'w=300&h=200&fit=fill', 'w=300&h=200&fit=outside',
    'w=300&h=200', 'w=400&gray=1', 'w=400&gray=1&format=jpeg', 'w=400&blur=1', 'w=400&blur=5&format=jpeg', 'w=400&blur=30',
    'w=1500&enlarge=1', 'w=1500', 'w=300&h=300&fit=contain&format=jpeg', 'format=png&w=640&gray=1&blur=2'],
  wide: ['w=200', 'w=400', 'h=333', 'w=667', 'w=200&h=200&fit=cover', 'w=200&h=200&fit=contain&format=png',
    'w=200&h=200&fit=contain&format=jpeg&bg=ff000080', 'w=400&format=jpeg', 'w=1000&h=1000&fit=fill', 'w=2000&h=500&fit=cover'],
  drawing: ['w=450', 'w=200', 'w=333&format=png', 'w=333&format=jpeg', 'w=450&gray=1', 'w=300&blur=1.5'],
  'drawing-lossless': ['w=320', 'w=200&format=png', 'w=320&format=jpeg', 'format=png', ''],
  sticker: ['w=300', 'w=301&format=png', 'w=300&format=jpeg', 'w=300&format=jpeg&bg=204060', 'w=300&blur=4', 'w=300&gray=1&format=png',
    'w=300&h=300&fit=contain&bg=ff8800', 'w=900&enlarge=1&format=png'],
  gradient: ['w=100', 'w=255&format=png', 'h=64&format=jpeg'],
  tall: ['w=45', 'h=400', 'w=100&h=100&fit=cover', 'w=100&h=100&fit=contain&format=png'],
  small: ['w=32', 'w=256&enlarge=1', 'w=256&enlarge=1&format=jpeg', 'blur=0.5', 'w=200&h=200&fit=cover&enlarge=1'],
  'photo-jpeg': ['w=200', 'w=400&format=jpeg', 'w=800'],
  'photo-progressive': ['w=400', ''],
  'gray-jpeg': ['w=300', 'w=300&format=png'],
  'sticker-png': ['w=250&format=png', 'w=250'],
  'palette-png': ['w=200&format=png', 'w=200'],
  'deep-png': ['w=150&format=png'],
  'drawing-gif': ['w=160&format=png', ''],
  ...Object.fromEntries([2, 3, 4, 5, 6, 7, 8].map((orientation) => [`turned-${orientation}`, ['w=200&format=png']])),
};

const parse = (query) => Object.fromEntries(new URLSearchParams(query));

const colour = (text) => text && {
  r: parseInt(text.slice(0, 2), 16), g: parseInt(text.slice(2, 4), 16), b: parseInt(text.slice(4, 6), 16),
  alpha: text.length === 8 ? parseInt(text.slice(6), 16) / 255 : 1,
};

/** Laid on white, as behind a JPEG. */
const onWhite = (c) => c && { r: c.r * c.alpha + 255 * (1 - c.alpha), g: c.g * c.alpha + 255 * (1 - c.alpha), b: c.b * c.alpha + 255 * (1 - c.alpha), alpha: 1 };

const hexadecimal = ({ r, g, b }) => [r, g, b].map((value) => Math.round(value).toString(16).padStart(2, '0')).join('');

/** The same words for sharp, up to the pixels. */
function pipeline(input, words) {
  const background = colour(words.bg);
  let image = sharp(input).autoOrient();
  if (words.format === 'jpeg') image = image.flatten({ background: onWhite(background) ?? '#ffffff' });
  if (words.w || words.h) {
    image = image.resize({
      width: words.w && Number(words.w), height: words.h && Number(words.h), fit: words.fit ?? 'inside',
      withoutEnlargement: words.enlarge !== '1',
      background: (words.format === 'jpeg' ? onWhite(background) ?? '#ffffff' : background) ?? { r: 0, g: 0, b: 0, alpha: 0 },
    });
  }
  if (words.gray) image = image.greyscale();
  if (words.blur) image = image.blur(Number(words.blur));
  return image;
}

function coded(image, words) {
  const quality = Number(words.q ?? 80);
  if (words.format === 'png') return image.png();
  return words.format === 'jpeg' ? image.jpeg({ quality }) : image.webp({ quality });
}

function ours(input, query) {
  const [from, to] = [join(folder, 'in'), join(folder, 'out')];
  writeFileSync(from, input);
  execFileSync(program, [from, to, query], { stdio: ['ignore', 'ignore', 'inherit'] });
  return readFileSync(to);
}

/** Our pixels before lossy coding: the same words as PNG, laid on the background where the format is JPEG. */
async function ourPixels(input, words) {
  const { q: _, format, ...look } = words;
  if (format !== 'jpeg') return rawPixels(sharp, ours(input, `${new URLSearchParams({ ...look, format: 'png' })}`));
  const padded = look.fit === 'contain' ? { ...look, bg: hexadecimal(onWhite(colour(look.bg ?? 'ffffff'))) } : look;
  const png = ours(input, `${new URLSearchParams({ ...padded, format: 'png' })}`);
  const flat = await sharp(png).flatten({ background: onWhite(colour(look.bg)) ?? '#ffffff' }).png().toBuffer();
  return rawPixels(sharp, flat);
}

const rounded = ({ difference, ssim }) => ({ difference: Number(difference.toFixed(3)), ssim: Number(ssim.toFixed(4)) });

async function compare(name, input, query) {
  const isStored = query === 'stored';
  const words = isStored ? {} : parse(query);
  // a PNG cannot be reduced while it is decoded
  const decoded = await sharp(input).autoOrient().png().toBuffer();
  const [fast, full] = await Promise.all([input, decoded].map((way) => pipeline(way, words).png().toBuffer()));
  const [pixels, otherPixels] = [await rawPixels(sharp, fast), await rawPixels(sharp, full)];
  const theirs = await coded(pipeline(input, words), words).toBuffer();
  const theirsFull = await coded(pipeline(decoded, words), words).toBuffer();
  const mine = ours(input, query);
  const [theirCoded, theirCodedFull, myCoded] = await Promise.all([theirs, theirsFull, mine].map((file) => rawPixels(sharp, file)));
  const myPixels = isStored ? await rawPixels(sharp, ours(input, 'format=png')) : await ourPixels(input, words);
  return {
    input: name,
    inputHash: createHash('sha256').update(input).digest('hex').slice(0, 16),
    query,
    size: [pixels.width, pixels.height],
    ourSize: [myCoded.width, myCoded.height],
    spread: rounded(distance(pixels, otherPixels)),
    pixels: rounded(distance(pixels, myPixels)),
    pixelsToFull: rounded(distance(otherPixels, myPixels)),
    codedSsim: [[myPixels, myCoded], [pixels, theirCoded], [otherPixels, theirCodedFull]].map((pair) => distance(...pair).ssim).map((value) => Number(value.toFixed(4))),
    bytes: [mine.length, theirs.length, theirsFull.length],
  };
}

/** What lies outside the tolerance, in words. */
function faults({ size, ourSize, spread, pixels, codedSsim, bytes }) {
  const found = [];
  if (size.some((side, axis) => Math.abs(side - ourSize[axis]) > 1)) found.push('size');
  if (1 - pixels.ssim > Math.max(1 - MIN_SSIM, SPREADS * (1 - spread.ssim))) found.push('ssim');
  if (pixels.difference > Math.max(MAX_DIFFERENCE, SPREADS * spread.difference)) found.push('difference');
  if (codedSsim[0] < Math.min(codedSsim[1], codedSsim[2]) - MAX_CODED_LOSS) found.push('coded');
  if (bytes[0] > MAX_BYTES_RATIO * Math.max(bytes[1], bytes[2]) && bytes[0] > MIN_COUNTED_BYTES) found.push('bytes');
  return found;
}

const files = await inputs();
const cases = [];
for (const [name, queries] of Object.entries(QUERIES)) for (const query of queries) cases.push([name, query]);
for (const name of STORED_INPUTS) cases.push([name, 'stored']);

const results = [];
for (const [name, query] of cases) {
  const result = await compare(name, files[name], query);
  const outside = faults(result);
  results.push({ ...result, ...(outside.length > 0 && { outside }) });
  if (outside.length > 0) console.log(`${outside.join(', ')}: ${JSON.stringify(result)}`);
}
rmSync(folder, { recursive: true });

const failed = results.filter((result) => result.outside).length;
const versions = { sharp: sharp.versions.sharp, libvips: sharp.versions.vips, libwebp: sharp.versions.webp };
const lines = results.map((result) => `    ${JSON.stringify(result)}`).join(',\n');
const path = join(dirname(fileURLToPath(import.meta.url)), 'goldens.json');
writeFileSync(path, `{\n  "versions": ${JSON.stringify(versions)},\n  "outside": ${failed},\n  "cases": [\n${lines}\n  ]\n}\n`);

const least = (name, value) => {
  const worst = results.reduce((a, b) => (value(b) < value(a) ? b : a));
  console.log(`${name}: ${value(worst).toFixed(4)} (${worst.input} ${worst.query})`);
};
console.log(`${results.length} cases, ${failed} outside the tolerance`);
least('least SSIM of pixels', (result) => result.pixels.ssim);
least('largest difference', (result) => -result.pixels.difference);
least('largest ratio of bytes', (result) => -result.bytes[0] / Math.max(result.bytes[1], result.bytes[2]));
least('largest loss of coding', (result) => result.codedSsim[0] - Math.min(result.codedSsim[1], result.codedSsim[2]));
process.exitCode = failed > 0 ? 1 : 0;
