//! `Draw`: numbers that depend only on their use.
//!
//! In: a seed and the keys of a thing (topic, store, product, epoch). Out: the same endless row of numbers
//! each time, on every machine. No clock, no shared state, no order of calls between two draws.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const LEGACY_ALPHABET: &[u8] = b"23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz";

/// The use of a draw: two topics of one product never share numbers.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Topic {
    Store = 1,
    Size,
    Brand,
    Rank,
    Presence,
    Product,
    Price,
    Stock,
    Special,
    Look,
    Reprice,
    Photo,
    Painting,
    Latency,
    MediaFile,
    AccountPost,
    Video,
    ForumPost,
    EasynewsFile,
    Credit,
    Odd,
    /// How a platform writes a product.
    Listing,
    /// A market: makers, products, stores and spellings.
    Market,
}

#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn of(seed: u64, topic: Topic, keys: &[u64]) -> Draw {
        let start = mix(seed ^ mix(topic as u64));
        Draw(keys.iter().fold(start, |state, key| mix(state.wrapping_add(GOLDEN) ^ mix(*key))))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// 0 … n − 1; 0 when n is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// `low` … `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// 0 ≤ x < 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// The usual id: 24 hex digits.
    pub(crate) fn object_id(&mut self) -> String {
        format!("{:08x}{:016x}", self.between(0x5f00_0000, 0x69ff_ffff), self.next())
    }

    /// An id of the platform's first years: 17 characters.
    pub(crate) fn legacy_id(&mut self) -> String {
        (0..17).map(|_| *self.pick(LEGACY_ALPHABET) as char).collect()
    }

    pub(crate) fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }

    pub(crate) fn hex32(&mut self) -> String {
        format!("{:016x}{:016x}", self.next(), self.next())
    }
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_keys_draw_the_same_and_other_keys_do_not() {
        let numbers = |topic, keys: &[u64]| {
            let mut draw = Draw::of(7, topic, keys);
            [draw.next(), draw.next(), draw.next()]
        };
        assert_eq!(numbers(Topic::Price, &[1, 2]), numbers(Topic::Price, &[1, 2]));
        assert_ne!(numbers(Topic::Price, &[1, 2]), numbers(Topic::Price, &[2, 1]));
        assert_ne!(numbers(Topic::Price, &[1, 2]), numbers(Topic::Stock, &[1, 2]));
    }

    #[test]
    fn ids_have_their_lengths() {
        let mut draw = Draw::of(1, Topic::Store, &[]);
        assert_eq!(draw.object_id().len(), 24);
        assert_eq!(draw.legacy_id().len(), 17);
        assert_eq!(draw.uuid().len(), 36);
    }
}
