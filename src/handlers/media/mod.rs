//! The bodies of media jobs, one file a job type, and what they share.
//!
//! In: a run's [`Context`], with [`MediaServices`]. Out: items, files and the rows of what is watched. They
//! must not know menu platforms or proxies.

pub mod download_media;
pub mod youtube_monitor;

mod item_download;

use std::path::PathBuf;

use ::media::http::{Http, HttpError};
use settings::Config;
use storage::{MediaFiles, Payloads};

/// Dependencies that all media jobs of a process share.
pub struct MediaServices {
    pub http: Http,
    pub files: MediaFiles,
    pub config: settings::Media,
    /// Where files are until they are whole.
    pub work_dir: PathBuf,
}

impl MediaServices {
    /// Errors: the certificate authorities of this machine cannot be used.
    pub fn new(config: &Config, payloads: &Payloads) -> Result<Self, HttpError> {
        Ok(MediaServices {
            http: Http::new(config.media.allow_private)?,
            files: MediaFiles::beside(payloads),
            config: config.media.clone(),
            work_dir: config.media_work_dir(),
        })
    }
}
