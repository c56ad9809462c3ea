//! `Payloads::open`: a payload file as a stream, in memory that does not grow with it.
//!
//! In: its path and hash, and the form in which it is wanted. Out: parts of it, each made when it is asked
//! for, so that a slow reader holds no thread. The whole file is checked before the first part is handed out:
//! damage is an error, not half an answer.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::{GzEncoder, MultiGzDecoder};
use flate2::{Decompress, FlushDecompress, Status};
use futures_util::stream::{self, BoxStream, StreamExt};

use super::document::{LEVEL, MAX_DOCUMENT_BYTES};
use super::files::{MAX_PAYLOAD_BYTES, PartReader};
use super::{Payloads, StorageError};
use foundation::cpu;
use foundation::digest::Sha256Hex;

/// Part size of a file that is sent as it is, or hashed.
const FILE_PART: usize = 64 << 10;
/// Part size of a file that is inflated: a hostile one grows a thousandfold.
const INFLATED_PART: usize = 16 << 10;
const WINDOW_BITS: u8 = 15;

/// Form in which a payload is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadForm {
    /// The file as it is: gzip, in members.
    File,
    /// Its JSON text, gzipped as one member, which is all that HTTP clients read.
    Gzip,
    /// Its JSON text.
    Json,
}

impl PayloadForm {
    /// Distinguishes the answers to requests for different forms of one payload.
    pub fn name(self) -> &'static str {
        match self {
            PayloadForm::File => "file",
            PayloadForm::Gzip => "gzip",
            PayloadForm::Json => "json",
        }
    }
}

/// Text before and after a payload's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SurroundingText {
    pub before: String,
    pub after: String,
}

impl SurroundingText {
    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// A payload on its way to a reader.
pub struct PayloadData {
    /// Size of all parts together; None where that is not known before they are made.
    pub bytes: Option<u64>,
    /// An error ends it: the reader has got less than the whole.
    pub parts: BoxStream<'static, Result<Bytes, StorageError>>,
}

impl Payloads {
    /// Opens a payload whose bytes have the hash `sha256`. `around` does not belong to the file and is left
    /// out of [`PayloadForm::File`].
    pub async fn open(
        &self,
        storage_path: &str,
        sha256: &str,
        form: PayloadForm,
        around: SurroundingText,
    ) -> Result<PayloadData, StorageError> {
        let mut parts = Parts::of(self, storage_path).await?;
        parts.check(sha256).await?;
        let is_as_wanted = match form {
            PayloadForm::File => true,
            PayloadForm::Gzip => around.is_empty() && parts.is_one_member().await?,
            PayloadForm::Json => false,
        };
        parts.rewind().await?;
        let bytes = is_as_wanted.then_some(parts.length);
        if !is_as_wanted {
            let codec = Codec::new(form, around).map_err(|error| parts.damaged(&error))?;
            parts.codec = Some(Box::new(codec));
        }
        Ok(PayloadData { bytes, parts: stream::try_unfold(parts, Parts::next).boxed() })
    }
}

/// An open payload file, read part by part.
struct Parts {
    path: String,
    /// None at its end.
    file: Option<Box<dyn PartReader>>,
    length: u64,
    /// None: parts of the file are handed out as they are.
    codec: Option<Box<Codec>>,
}

impl Parts {
    async fn of(files: &Payloads, path: &str) -> Result<Parts, StorageError> {
        let (file, length) = files.files().open_payload(path.to_owned()).await?;
        let parts = Parts { path: path.to_owned(), file: Some(file), length, codec: None };
        match length {
            0..=MAX_PAYLOAD_BYTES => Ok(parts),
            _ => Err(parts.damaged(&format!("larger than {MAX_PAYLOAD_BYTES} bytes"))),
        }
    }

    /// Whether the bytes are the ones that were written.
    async fn check(&mut self, expected: &str) -> Result<(), StorageError> {
        let mut hash = Sha256Hex::default();
        let mut length = 0;
        loop {
            let part = self.read(FILE_PART).await?;
            if part.is_empty() {
                break;
            }
            length += part.len() as u64;
            hash = cpu::run(move || hash.and(&part)).await;
        }
        match hash.finish() == expected && length == self.length {
            true => Ok(()),
            false => Err(self.damaged(&"its bytes differ from those that were written (SHA-256)")),
        }
    }

    /// Whether the file ends with its first gzip member.
    async fn is_one_member(&mut self) -> Result<bool, StorageError> {
        self.rewind().await?;
        let mut member = Decompress::new_gzip(WINDOW_BITS);
        loop {
            let part = self.read(INFLATED_PART).await?;
            if part.is_empty() {
                return Err(self.damaged(&"it ends too early"));
            }
            let (decompress, end) = cpu::run(move || {
                let end = pass(&mut member, &part);
                (member, end)
            })
            .await;
            member = decompress;
            if end.map_err(|error| self.damaged(&error))? {
                return Ok(member.total_in() == self.length);
            }
        }
    }

    async fn rewind(&mut self) -> Result<(), StorageError> {
        self.open_file()?.rewind().await
    }

    /// The next bytes of the file, at most `most`; none at its end.
    async fn read(&mut self, most: usize) -> Result<Vec<u8>, StorageError> {
        self.open_file()?.read(most).await
    }

    fn open_file(&mut self) -> Result<&mut Box<dyn PartReader>, StorageError> {
        let closed = || StorageError::Corrupt { path: self.path.clone(), reason: "it was closed".to_owned() };
        self.file.as_mut().ok_or_else(closed)
    }

    /// The next part for the reader.
    async fn next(mut self) -> Result<Option<(Bytes, Parts)>, StorageError> {
        while self.file.is_some() {
            let most = if self.codec.is_some() { INFLATED_PART } else { FILE_PART };
            let part = self.read(most).await?;
            if part.is_empty() {
                self.file = None;
            }
            let part = match self.codec.take() {
                Some(codec) => self.code(codec, part).await?,
                None => part,
            };
            if !part.is_empty() {
                return Ok(Some((part.into(), self)));
            }
        }
        Ok(None)
    }

    /// The codec's output for a part of the file; for an empty part, its end.
    async fn code(&mut self, mut codec: Box<Codec>, part: Vec<u8>) -> Result<Vec<u8>, StorageError> {
        let coded = cpu::run(move || match part.is_empty() {
            true => codec.end().map(|last| (None, last)),
            false => codec.push(&part).map(|coded| (Some(codec), coded)),
        });
        let (codec, coded) = coded.await.map_err(|error| self.damaged(&error))?;
        self.codec = codec;
        Ok(coded)
    }

    fn damaged(&self, reason: &impl ToString) -> StorageError {
        StorageError::Corrupt { path: self.path.clone(), reason: reason.to_string() }
    }
}

/// Passes a part of a file through a gzip member; true when the member ends in it. The inflated text is
/// discarded.
fn pass(member: &mut Decompress, part: &[u8]) -> Result<bool, flate2::DecompressError> {
    let mut text = [0; 8192];
    let begun = member.total_in();
    loop {
        let (read, written) = ((member.total_in() - begun) as usize, member.total_out());
        let rest = part.get(read..).unwrap_or_default();
        let status = member.decompress(rest, &mut text, FlushDecompress::None)?;
        if status == Status::StreamEnd {
            return Ok(true);
        }
        let is_at_rest = member.total_in() - begun == read as u64 && member.total_out() == written;
        if is_at_rest {
            return Ok(false);
        }
    }
}

/// Makes one text of all members of a file.
struct Codec {
    decoder: MultiGzDecoder<Text>,
    after: String,
}

impl Codec {
    fn new(form: PayloadForm, around: SurroundingText) -> io::Result<Codec> {
        let coded = match form {
            PayloadForm::Gzip => Coded::Gzip(Box::new(GzEncoder::new(Vec::new(), LEVEL))),
            PayloadForm::File | PayloadForm::Json => Coded::Json(Vec::new()),
        };
        let mut text = Text { coded, room: MAX_DOCUMENT_BYTES };
        text.coded.write(around.before.as_bytes())?;
        Ok(Codec { decoder: MultiGzDecoder::new(text), after: around.after })
    }

    fn push(&mut self, part: &[u8]) -> io::Result<Vec<u8>> {
        self.decoder.write_all(part)?;
        Ok(self.decoder.get_mut().coded.take())
    }

    fn end(self) -> io::Result<Vec<u8>> {
        let mut text = self.decoder.finish()?;
        text.coded.write(self.after.as_bytes())?;
        text.coded.finish()
    }
}

/// The inflated text of a file, up to the size of the largest payload.
struct Text {
    coded: Coded,
    room: usize,
}

enum Coded {
    Json(Vec<u8>),
    Gzip(Box<GzEncoder<Vec<u8>>>),
}

impl Coded {
    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match self {
            Coded::Json(parts) => parts.write_all(text),
            Coded::Gzip(encoder) => encoder.write_all(text),
        }
    }

    /// Takes the text that is there and was not taken before.
    fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Coded::Json(text) => text,
            Coded::Gzip(encoder) => encoder.get_mut(),
        })
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Coded::Json(text) => Ok(text),
            Coded::Gzip(encoder) => encoder.finish(),
        }
    }
}

impl Write for Text {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.room = self.room.checked_sub(text.len()).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("more than {MAX_DOCUMENT_BYTES} bytes"))
        })?;
        self.coded.write(text)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
