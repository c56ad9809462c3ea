//! Makes inputs out of seeds and words, runs a target on each, and keeps inputs with an effect that was not
//! seen before.
//!
//! In: a target. Out: a panic that names the input and how to make it again. It must not know what targets
//! do.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Number of inputs of each target in a landing; a release has a million.
const IN_CI: u64 = 200_000;
const AT_HOME: u64 = 50_000;
const MAX_BYTES: usize = 2048;
/// Maximum number of inputs that are kept because of their effect.
const MAX_KEPT: usize = 4096;
const MAX_CHANGES: usize = 6;

pub fn drive(name: &str, seeds: &[Vec<u8>], words: &[&str], run: impl Fn(&[u8]) -> u64) {
    let (inputs, seed) = (number("DROVER_FUZZ_INPUTS").unwrap_or_else(by_place), number("DROVER_FUZZ_SEED"));
    let seed = seed.unwrap_or_else(rand::random);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut kept = seeds.to_vec();
    let mut effects = HashSet::new();
    let begun = Instant::now();
    for n in 0..inputs {
        let input = match seeds.get(n as usize) {
            Some(seed) => seed.clone(),
            None => changed(&mut rng, &kept, words),
        };
        let effect = catch_unwind(AssertUnwindSafe(|| run(&input))).unwrap_or_else(|_| {
            panic!("{name} fails on input {n} of DROVER_FUZZ_SEED={seed}: b\"{}\"", input.escape_ascii())
        });
        if kept.len() < MAX_KEPT && effects.insert(effect) && n as usize >= seeds.len() {
            kept.push(input);
        }
    }
    let rate = inputs as f64 / begun.elapsed().as_secs_f64();
    println!("{name}: {inputs} inputs, {rate:.0} a second, {} effects", effects.len());
    assert!(effects.len() > 1 || inputs < AT_HOME, "{name} does the same whatever it is given");
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

fn by_place() -> u64 {
    if std::env::var("CI").as_deref() == Ok("true") { IN_CI } else { AT_HOME }
}

fn changed(rng: &mut StdRng, kept: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut bytes = kept[rng.random_range(0..kept.len())].clone();
    for _ in 0..rng.random_range(1..=MAX_CHANGES) {
        change(rng, &mut bytes, kept, words);
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

fn change(rng: &mut StdRng, bytes: &mut Vec<u8>, kept: &[Vec<u8>], words: &[&str]) {
    let (from, to) = range(rng, bytes.len());
    match rng.random_range(0..9) {
        0 if !bytes.is_empty() => bytes[from.min(to.saturating_sub(1))] ^= 1 << rng.random_range(0..8),
        1 if !bytes.is_empty() => bytes[from.min(to.saturating_sub(1))] = rng.random(),
        2 => drop(bytes.drain(from..to)),
        3 => bytes.truncate(to),
        4 => {
            let part = bytes[from..to].to_vec();
            let place = rng.random_range(0..=bytes.len());
            bytes.splice(place..place, part);
        }
        5 => {
            let other = &kept[rng.random_range(0..kept.len())];
            let (begin, end) = range(rng, other.len());
            bytes.splice(from..to, other[begin..end].iter().copied());
        }
        6 => {
            let word = words[rng.random_range(0..words.len())];
            bytes.splice(from..to, word.bytes());
        }
        // inserted, so that the rest stays well-formed
        _ => {
            let word = words[rng.random_range(0..words.len())];
            bytes.splice(from..from, word.bytes());
        }
    }
}

/// A short range within `length`, in order.
fn range(rng: &mut StdRng, length: usize) -> (usize, usize) {
    let from = rng.random_range(0..=length);
    (from, (from + rng.random_range(0..=24)).min(length))
}
