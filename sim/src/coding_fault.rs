//! `CodingFault`: a body whose content coding differs from its head's.
//!
//! In: the body without any coding. Out: the name and the bytes that are sent. It must not know HTTP.

use std::io;

use bytes::Bytes;

use crate::encoding::Coding;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodingFault {
    /// Called gzip, and plain.
    NamedOnly,
    /// Gzip that no header names.
    Unnamed,
    /// Gzip under the name br.
    Misnamed,
    /// Coded twice, and named twice.
    Doubled,
    /// Coded twice, and named once.
    DoubledUnnamed,
    /// One bit in the middle is wrong.
    Corrupt,
    /// The end is missing, and HTTP does not show it.
    Truncated,
    /// Bytes behind the end that are not gzip.
    Trailing,
    /// A name that no coding is registered under, and plain.
    Unheard,
}

impl CodingFault {
    pub const ALL: [CodingFault; 9] = [
        CodingFault::NamedOnly,
        CodingFault::Unnamed,
        CodingFault::Misnamed,
        CodingFault::Doubled,
        CodingFault::DoubledUnnamed,
        CodingFault::Corrupt,
        CodingFault::Truncated,
        CodingFault::Trailing,
        CodingFault::Unheard,
    ];

    /// Faults that browsers read past.
    pub const READABLE: [CodingFault; 3] = [CodingFault::Doubled, CodingFault::Trailing, CodingFault::Unheard];

    pub fn is_readable(self) -> bool {
        CodingFault::READABLE.contains(&self)
    }

    pub(crate) async fn code(self, body: Bytes) -> io::Result<(Option<&'static str>, Bytes)> {
        let once = Coding::Gzip.encode(&body).await?;
        let coded = match self {
            CodingFault::NamedOnly => return Ok((Some("gzip"), body)),
            CodingFault::Unnamed => return Ok((None, once.into())),
            CodingFault::Misnamed => return Ok((Some("br"), once.into())),
            CodingFault::Unheard => return Ok((Some("x-secret"), body)),
            CodingFault::Doubled => return Ok((Some("gzip, gzip"), Coding::Gzip.encode(&once).await?.into())),
            CodingFault::DoubledUnnamed => Coding::Gzip.encode(&once).await?,
            CodingFault::Corrupt => flipped(once),
            CodingFault::Truncated => once[..once.len() * 3 / 4].to_vec(),
            CodingFault::Trailing => [once.as_slice(), b"and more"].concat(),
        };
        Ok((Some("gzip"), coded.into()))
    }
}

fn flipped(mut bytes: Vec<u8>) -> Vec<u8> {
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    bytes
}
