//! The orientation in Exif metadata; nothing else of it is read, and nothing of it is kept.

/// How a picture must be turned to stand upright.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Orientation {
    /// Mirrored left to right, after the turn.
    pub mirror: bool,
    /// Quarter turns clockwise.
    pub quarters: u8,
}

impl Orientation {
    pub fn is_upright(self) -> bool {
        self == Orientation::default()
    }

    pub fn swaps_sides(self) -> bool {
        self.quarters % 2 == 1
    }

    fn from_tag(value: u16) -> Option<Orientation> {
        let (mirror, quarters) = match value {
            1 => (false, 0),
            2 => (true, 0),
            3 => (false, 2),
            4 => (true, 2),
            5 => (true, 1),
            6 => (false, 1),
            7 => (true, 3),
            8 => (false, 3),
            _ => return None,
        };
        Some(Orientation { mirror, quarters })
    }
}

/// Reads the orientation from a TIFF structure, with or without the `Exif` prefix of JPEG. Broken metadata is no metadata.
pub(crate) fn orientation(exif: &[u8]) -> Orientation {
    let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    Tiff::new(tiff).and_then(|tiff| tiff.orientation()).unwrap_or_default()
}

const ORIENTATION: u16 = 0x0112;
const SHORT: u16 = 3;
const ENTRY_BYTES: usize = 12;

struct Tiff<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl<'a> Tiff<'a> {
    fn new(bytes: &'a [u8]) -> Option<Tiff<'a>> {
        let big_endian = match bytes.get(..4)? {
            b"II*\0" => false,
            b"MM\0*" => true,
            _ => return None,
        };
        Some(Tiff { bytes, big_endian })
    }

    fn orientation(&self) -> Option<Orientation> {
        let directory = self.u32_at(4)? as usize;
        let entries = usize::from(self.u16_at(directory)?);
        let first = directory.checked_add(2)?;
        let offsets = (0..entries).map(|entry| first.saturating_add(entry * ENTRY_BYTES));
        let mut found = offsets.filter(|at| self.u16_at(*at) == Some(ORIENTATION));
        let at = found.next()?;
        if self.u16_at(at + 2)? != SHORT {
            return None;
        }
        Orientation::from_tag(self.u16_at(at + 8)?)
    }

    fn u16_at(&self, at: usize) -> Option<u16> {
        let bytes = self.bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32_at(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn tiff(big_endian: bool, value: u16) -> Vec<u8> {
        let short = |number: u16| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
        let long = |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut bytes = if big_endian { b"MM\0*".to_vec() } else { b"II*\0".to_vec() };
        bytes.extend(long(8));
        bytes.extend(short(1));
        bytes.extend(short(ORIENTATION));
        bytes.extend(short(SHORT));
        bytes.extend(long(1));
        bytes.extend(short(value));
        bytes.extend([0; 6]);
        bytes
    }

    #[rstest]
    #[case(1, false, 0)]
    #[case(3, false, 2)]
    #[case(5, true, 1)]
    #[case(6, false, 1)]
    #[case(8, false, 3)]
    #[case::an_unknown_value_is_upright(9, false, 0)]
    fn the_orientation_is_read(#[case] value: u16, #[case] mirror: bool, #[case] quarters: u8) {
        for big_endian in [false, true] {
            assert_eq!(orientation(&tiff(big_endian, value)), Orientation { mirror, quarters });
        }
    }

    #[test]
    fn cut_metadata_is_upright() {
        let whole = tiff(true, 6);
        for end in 0..19 {
            assert!(orientation(&whole[..end]).is_upright());
        }
    }

    #[test]
    fn a_directory_beyond_the_end_is_upright() {
        assert!(orientation(b"II*\0\xFF\xFF\xFF\xFF").is_upright());
    }
}
