//! SHA-256 as text: names of directories and templates, checksums of migrations and payload files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Number of bytes of a file that are read at once.
const READ_BYTES: usize = 1 << 18;

/// The digest of `bytes` in lower-case hex.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    Sha256Hex::default().and(bytes).finish()
}

/// The size of a file, and its digest in lower-case hex. It blocks for as long as reading it takes.
pub fn sha256_of_file(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut digest = Sha256Hex::default();
    let mut buffer = vec![0; READ_BYTES];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((bytes, digest.finish())),
            read => (bytes, digest) = (bytes + read as u64, digest.and(&buffer[..read])),
        }
    }
}

/// The digest of bytes that come in parts.
#[derive(Default)]
pub struct Sha256Hex(Sha256);

impl Sha256Hex {
    pub fn and(mut self, part: impl AsRef<[u8]>) -> Self {
        self.0.update(part);
        self
    }

    /// Returns the digest in lower-case hex.
    pub fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_64_lower_case_hex_digits() {
        assert_eq!(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Sha256Hex::default().and("a").and("").and("bc").finish(), sha256_hex("abc"));
    }
}
