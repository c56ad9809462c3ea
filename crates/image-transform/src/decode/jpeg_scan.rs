//! Whether the scans of a JPEG hold all blocks that its size asks for.
//!
//! The decoder fills missing blocks with gray and reports nothing, as long as an end marker follows. So the codes are counted
//! here, without turning them into pixels, which takes a small part of the decoder's time. Of a progressive picture the first
//! scan of each channel counts, which holds one code a block: an early end of the later ones leaves it whole but coarse.

use crate::container::{Bytes, next_marker, next_segment};
use crate::{Format, ImageError};

/// False where data is missing; `None` where the coding is broken, which the decoder notices as long as it is strict.
pub fn is_complete(data: &[u8]) -> Option<bool> {
    Walk::new(data).run().ok().flatten()
}

struct Walk<'a> {
    bytes: Bytes<'a>,
    size: (usize, usize),
    components: Vec<Component>,
    is_progressive: bool,
    /// The channels that a scan holds.
    scanned: Vec<u8>,
    dc: [Option<Huffman>; 4],
    ac: [Option<Huffman>; 4],
    /// Number of units between two restart markers; 0 without them.
    restart_interval: usize,
}

/// A channel and its sampling factors.
#[derive(Clone, Copy)]
struct Component {
    id: u8,
    horizontal: usize,
    vertical: usize,
}

impl<'a> Walk<'a> {
    fn new(data: &'a [u8]) -> Walk<'a> {
        Walk {
            bytes: Bytes::new(Format::Jpeg, data),
            size: (0, 0),
            components: Vec::new(),
            is_progressive: false,
            scanned: Vec::new(),
            dc: Default::default(),
            ac: Default::default(),
            restart_interval: 0,
        }
    }

    fn run(&mut self) -> Result<Option<bool>, ImageError> {
        while let Some((marker, body)) = next_segment(&mut self.bytes)? {
            match marker {
                0xC0..=0xC2 => {
                    self.is_progressive = marker == 0xC2;
                    self.frame_header(body)?;
                }
                0xC4 => self.tables(body)?,
                0xDD => self.restart_interval = Bytes::new(Format::Jpeg, body).u16_be()?.into(),
                0xDA => match self.scan(body)? {
                    Some(true) => {}
                    other => return Ok(other),
                },
                _ => {}
            }
        }
        Ok(Some(self.components.iter().all(|component| self.scanned.contains(&component.id))))
    }

    fn frame_header(&mut self, body: &[u8]) -> Result<(), ImageError> {
        let mut body = Bytes::new(Format::Jpeg, body);
        body.skip(1)?;
        let height = body.u16_be()?.into();
        self.size = (body.u16_be()?.into(), height);
        for _ in 0..body.u8()? {
            let [id, sampling, _] = body.array()?;
            let (horizontal, vertical) = (usize::from(sampling >> 4), usize::from(sampling & 15));
            self.components.push(Component { id, horizontal, vertical });
        }
        Ok(())
    }

    fn tables(&mut self, body: &[u8]) -> Result<(), ImageError> {
        let mut body = Bytes::new(Format::Jpeg, body);
        while !body.is_at_end() {
            let kind = body.u8()?;
            let counts: [u8; 16] = body.array()?;
            let symbols = body.take(counts.iter().map(|count| usize::from(*count)).sum())?;
            let tables = if kind >> 4 == 0 { &mut self.dc } else { &mut self.ac };
            if let Some(table) = tables.get_mut(usize::from(kind & 15)) {
                *table = Huffman::new(&counts, symbols);
            }
        }
        Ok(())
    }

    fn scan(&mut self, body: &[u8]) -> Result<Option<bool>, ImageError> {
        let mut body = Bytes::new(Format::Jpeg, body);
        let selected: Vec<[u8; 2]> = (0..body.u8()?).map(|_| body.array()).collect::<Result<_, _>>()?;
        let [first_code, _, approximation] = body.array()?;
        if self.is_progressive && (first_code > 0 || approximation >> 4 > 0) {
            return Ok(Some(true));
        }
        let mut channels = Vec::new();
        for [id, tables] in selected {
            let component = self.components.iter().find(|component| component.id == id).copied();
            let dc = self.dc.get(usize::from(tables >> 4)).and_then(Option::as_ref);
            let ac = self.ac.get(usize::from(tables & 15)).and_then(Option::as_ref);
            let ac = if self.is_progressive { Some(None) } else { ac.map(Some) };
            let (Some(component), Some(dc), Some(ac)) = (component, dc, ac) else { return Ok(None) };
            channels.push((component, dc, ac));
            self.scanned.push(id);
        }
        let [only] = channels.as_slice() else {
            let blocks = channels.iter().flat_map(|&(component, dc, ac)| {
                std::iter::repeat_n((dc, ac), component.horizontal * component.vertical)
            });
            let blocks: Vec<_> = blocks.collect();
            return Ok(has_units(self.bytes.rest(), &blocks, self.units(), self.restart_interval));
        };
        let blocks = [(only.1, only.2)];
        Ok(has_units(self.bytes.rest(), &blocks, self.blocks_of(only.0), self.restart_interval))
    }

    /// Number of units of a scan with several channels.
    fn units(&self) -> usize {
        let (horizontal, vertical) = self.largest_sampling();
        self.size.0.div_ceil(8 * horizontal) * self.size.1.div_ceil(8 * vertical)
    }

    /// Number of units of a scan with this channel alone, which are blocks.
    fn blocks_of(&self, component: Component) -> usize {
        let (horizontal, vertical) = self.largest_sampling();
        let width = (self.size.0 * component.horizontal).div_ceil(horizontal);
        let height = (self.size.1 * component.vertical).div_ceil(vertical);
        width.div_ceil(8) * height.div_ceil(8)
    }

    fn largest_sampling(&self) -> (usize, usize) {
        let largest = |factor: fn(&Component) -> usize| self.components.iter().map(factor).max().unwrap_or(1).max(1);
        (largest(|component| component.horizontal), largest(|component| component.vertical))
    }
}

/// Whether the data holds this number of units, each of these blocks; `None` at a code that no table has. A block without an
/// AC table is its DC code alone.
fn has_units(
    data: &[u8],
    blocks: &[(&Huffman, Option<&Huffman>)],
    units: usize,
    restart_interval: usize,
) -> Option<bool> {
    let mut bits = Bits::new(data);
    for unit in 0..units {
        if restart_interval > 0 && unit > 0 && unit % restart_interval == 0 && !bits.restart() {
            return Some(false);
        }
        for &(dc, ac) in blocks {
            let coded = bits.pass_block(dc, ac);
            if bits.ran_out() {
                return Some(false);
            }
            coded?;
        }
    }
    Some(true)
}

/// Maximum length of codes that are looked up at once.
const SHORT: u32 = 9;

/// A table of codes: their lengths and symbols.
struct Huffman {
    /// Length and symbol by the next bits; length 0 where the code is longer.
    short: Vec<(u8, u8)>,
    /// End of the codes of each length, aligned to 16 bits, and the difference between a symbol's index and its code.
    long: [(u32, i32); 17],
    symbols: Vec<u8>,
}

impl Huffman {
    fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Huffman> {
        let mut table = Huffman { short: vec![(0, 0); 1 << SHORT], long: [(0, 0); 17], symbols: symbols.to_vec() };
        let (mut code, mut next) = (0u32, 0usize);
        for (length, count) in (1u32..).zip(counts) {
            table.long[length as usize].1 = next as i32 - code as i32;
            for _ in 0..*count {
                if code >= 1 << length {
                    return None;
                }
                if length <= SHORT {
                    let from = (code << (SHORT - length)) as usize;
                    table.short[from..from + (1 << (SHORT - length))].fill((length as u8, symbols[next]));
                }
                (code, next) = (code + 1, next + 1);
            }
            table.long[length as usize].0 = code << (16 - length);
            code <<= 1;
        }
        Some(table)
    }
}

/// Reads bits up to the next marker; beyond it they are zeros, which are counted.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    buffer: u64,
    count: u32,
    /// Number of bits in the buffer, and taken from it, that the data does not have.
    missing: u32,
}

impl<'a> Bits<'a> {
    fn new(data: &'a [u8]) -> Bits<'a> {
        Bits { data, at: 0, buffer: 0, count: 0, missing: 0 }
    }

    fn ran_out(&self) -> bool {
        self.count < self.missing
    }

    fn fill(&mut self) {
        while self.count <= 56 {
            let (byte, bytes) = match self.data.get(self.at..) {
                Some([0xFF, 0x00, ..]) => (0xFF, 2),
                None | Some([] | [0xFF, ..]) => (0, 0),
                Some([byte, ..]) => (*byte, 1),
            };
            self.missing += if bytes == 0 { 8 } else { 0 };
            self.at += bytes;
            self.buffer |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
    }

    fn skip(&mut self, count: u32) {
        self.buffer <<= count;
        self.count -= count;
    }

    fn symbol(&mut self, table: &Huffman) -> Option<u8> {
        if self.count < 32 {
            self.fill();
        }
        let (length, symbol) = table.short[(self.buffer >> (64 - SHORT)) as usize];
        if length > 0 {
            self.skip(length.into());
            return Some(symbol);
        }
        let next = (self.buffer >> 48) as u32;
        let length = (SHORT + 1..=16).find(|length| next < table.long[*length as usize].0)?;
        let index = (next >> (16 - length)) as i32 + table.long[length as usize].1;
        self.skip(length);
        table.symbols.get(usize::try_from(index).ok()?).copied()
    }

    /// Passes over one block; `None` at an unknown code.
    fn pass_block(&mut self, dc: &Huffman, ac: Option<&Huffman>) -> Option<()> {
        let bits = self.symbol(dc)?;
        self.skip(u32::from(bits).min(16));
        let Some(ac) = ac else { return Some(()) };
        let mut position = 1;
        while position < 64 {
            let symbol = self.symbol(ac)?;
            let (run, bits) = (symbol >> 4, symbol & 15);
            if bits == 0 && run < 15 {
                break;
            }
            self.skip(bits.into());
            position += u32::from(run) + 1;
        }
        Some(())
    }

    /// Goes on behind the next restart marker; false where another marker comes first.
    fn restart(&mut self) -> bool {
        (self.buffer, self.count, self.missing) = (0, 0, 0);
        let mut rest = Bytes::new(Format::Jpeg, self.data.get(self.at..).unwrap_or_default());
        let is_restart = next_marker(&mut rest).is_ok_and(|marker| (0xD0..=0xD7).contains(&marker));
        self.at += rest.position();
        is_restart
    }
}
