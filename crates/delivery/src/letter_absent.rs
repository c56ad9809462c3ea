//! In place of `letter` in a build without the feature `mail`: no mail is written, with the remedy.

use chrono::{DateTime, Utc};

use super::{Notice, SendError};
use domain::notification::MailTarget;

pub fn written(_: &MailTarget, _: &Notice, _: DateTime<Utc>) -> Result<Vec<u8>, SendError> {
    Err(SendError::NoMail(
        "this build of drover sends none: take a release, or build drover with its default features".to_owned(),
    ))
}
