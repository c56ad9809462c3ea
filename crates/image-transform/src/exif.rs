//! The orientation in Exif metadata, as the crate `image` reads it; nothing else of it is read, and nothing of it is kept.

use image::metadata::Orientation as Named;

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
}

impl From<Named> for Orientation {
    fn from(named: Named) -> Orientation {
        let (mirror, quarters) = match named {
            Named::NoTransforms => (false, 0),
            Named::FlipHorizontal => (true, 0),
            Named::Rotate180 => (false, 2),
            Named::FlipVertical => (true, 2),
            Named::Rotate90FlipH => (true, 1),
            Named::Rotate90 => (false, 1),
            Named::Rotate270FlipH => (true, 3),
            Named::Rotate270 => (false, 3),
        };
        Orientation { mirror, quarters }
    }
}

/// Reads the orientation from a TIFF structure, with or without the `Exif` prefix of JPEG. Broken metadata is ignored.
pub(crate) fn orientation(exif: &[u8]) -> Orientation {
    let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    Named::from_exif_chunk(tiff).map(Orientation::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ORIENTATION: u16 = 0x0112;
    const SHORT: u16 = 3;

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
    #[case(2, true, 0)]
    #[case(3, false, 2)]
    #[case(4, true, 2)]
    #[case(5, true, 1)]
    #[case(6, false, 1)]
    #[case(7, true, 3)]
    #[case(8, false, 3)]
    #[case::an_unknown_value_is_upright(9, false, 0)]
    fn the_orientation_is_read(#[case] value: u16, #[case] mirror: bool, #[case] quarters: u8) {
        for big_endian in [false, true] {
            let tiff = tiff(big_endian, value);
            assert_eq!(orientation(&tiff), Orientation { mirror, quarters });
            assert_eq!(orientation(&[b"Exif\0\0", tiff.as_slice()].concat()), Orientation { mirror, quarters });
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
