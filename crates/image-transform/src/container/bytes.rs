//! `Bytes`: reads a stranger's bytes forwards; what is not there is an early end of the file.

use crate::{Format, ImageError};

pub(crate) struct Bytes<'a> {
    format: Format,
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub fn new(format: Format, all: &'a [u8]) -> Bytes<'a> {
        Bytes { format, all, at: 0 }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    /// The bytes from here on.
    pub fn rest(&self) -> &'a [u8] {
        self.all.get(self.at..).unwrap_or_default()
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.all.len()
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], ImageError> {
        let end = self.at.saturating_add(count);
        let taken = self.all.get(self.at..end).ok_or_else(|| self.early_end(count))?;
        self.at = end;
        Ok(taken)
    }

    pub fn skip(&mut self, count: usize) -> Result<(), ImageError> {
        self.take(count).map(|_| ())
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], ImageError> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| self.early_end(N))
    }

    pub fn u8(&mut self) -> Result<u8, ImageError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16_be(&mut self) -> Result<u16, ImageError> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u16_le(&mut self) -> Result<u16, ImageError> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32_be(&mut self) -> Result<u32, ImageError> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u32_le(&mut self) -> Result<u32, ImageError> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u24_le(&mut self) -> Result<u32, ImageError> {
        self.array().map(|[low, middle, high]| u32::from_le_bytes([low, middle, high, 0]))
    }

    fn early_end(&self, wanted: usize) -> ImageError {
        let (at, length) = (self.at, self.all.len());
        ImageError::truncated(self.format, format!("{wanted} bytes are wanted at {at}, it has {length}"))
    }
}
