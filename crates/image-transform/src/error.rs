//! Why bytes are refused as an image, and why a query is refused as a transform.

use thiserror::Error;

use crate::Format;

/// Why bytes give no image. Each variant says what the caller counts it as, by [`ImageError::reason`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImageError {
    #[error("not an image: {detail}")]
    NotAnImage { detail: String },
    #[error("too large: {what} is {value}, the maximum is {limit}")]
    TooLarge { what: &'static str, value: u64, limit: u64 },
    #[error("the {} ends early: {detail}", format.name())]
    Truncated { format: Format, detail: String },
    #[error("the {} cannot be decoded: {detail}", format.name())]
    Undecodable { format: Format, detail: String },
    #[error("the {} is of a kind that is not supported: {detail}", format.name())]
    Unsupported { format: Format, detail: String },
}

impl ImageError {
    /// The word under which a refusal is counted.
    pub fn reason(&self) -> &'static str {
        match self {
            ImageError::TooLarge { .. } => "too_large",
            ImageError::Truncated { .. } => "truncated",
            ImageError::NotAnImage { .. } | ImageError::Undecodable { .. } | ImageError::Unsupported { .. } => {
                "not_an_image"
            }
        }
    }

    pub(crate) fn truncated(format: Format, detail: impl Into<String>) -> ImageError {
        ImageError::Truncated { format, detail: detail.into() }
    }

    pub(crate) fn undecodable(format: Format, detail: impl Into<String>) -> ImageError {
        ImageError::Undecodable { format, detail: detail.into() }
    }

    pub(crate) fn unsupported(format: Format, detail: impl Into<String>) -> ImageError {
        ImageError::Unsupported { format, detail: detail.into() }
    }
}

/// A parameter of a query that is unknown, repeated or out of its range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{name} {message}")]
pub struct BadParameter {
    pub name: String,
    /// Continues the name: `must be an integer from 1 to 4000, not '0'`.
    pub message: String,
}
