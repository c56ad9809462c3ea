//! Renders one file: `render <input> <output> [<query>]`; with the query `stored` it makes the kept WebP.
//!
//! For comparisons with other programs (`benches/images`). `--repeat N` before the input does the work N times.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use image_transform::{Transform, render, to_stored};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (repeat, rest) = match arguments.as_slice() {
        [flag, count, rest @ ..] if flag == "--repeat" => (count.parse()?, rest),
        rest => (1, rest),
    };
    let [input, output, query @ ..] = rest else {
        return Err("usage: render [--repeat N] <input> <output> [<query>|stored]".into());
    };
    let (input, query) = (fs::read(input)?, query.first().map_or("", String::as_str));
    for _ in 1..repeat {
        convert(&input, query)?;
    }
    let (bytes, width, height) = convert(&input, query)?;
    println!("{width}x{height} {} bytes", bytes.len());
    fs::write(Path::new(output), bytes)?;
    Ok(())
}

fn convert(input: &[u8], query: &str) -> Result<(Vec<u8>, u32, u32), Box<dyn Error>> {
    if query == "stored" {
        let stored = to_stored(input)?;
        return Ok((stored.webp, stored.width, stored.height));
    }
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let request = Transform::parse(pairs, None)?;
    let rendered = render(input, &request.transform)?;
    Ok((rendered.bytes, rendered.width, rendered.height))
}
