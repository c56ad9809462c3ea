//! Images as clients ask for them: resized and converted from the stored original, or from a picture among the
//! media files, and kept for the next client.
//!
//! In: the path of a stored image and a [`Transform`]. Out: a [`Variant`], from memory, from disk, or
//! rendered: equal requests at the same time render once, and a bounded number of renders wait. It must not
//! know HTTP or the database.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use image_transform::{DEFAULT_QUALITY, Format, ImageError, Transform};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use foundation::cpu;
use foundation::digest::sha256_hex;
use settings::Config;
use storage::{Images, Place, StorageError, StoredImage, Variants, image_layout, media_layout};
use telemetry::events;

/// Part of each variant's name: a new number renders all of them once more.
const RENDERING: u32 = 1;
/// Directory below the data directory.
const CACHE_DIR: &str = "image-cache";
const MAX_RENDER_TIME: Duration = Duration::from_secs(10);
/// Variants that are held in memory, in front of the disk.
const MAX_MEMORY: u64 = 64 << 20;
const ITEMS_IN_MEMORY: usize = 4096;
/// Overhead of a cache entry, in bytes.
const ENTRY_BYTES: u64 = 512;
const TAG_CHARS: usize = 32;

/// An image in the form that was asked for.
#[derive(Debug)]
pub struct Variant {
    pub bytes: Bytes,
    pub format: Format,
    /// Time when the original was stored.
    pub modified: SystemTime,
    /// The same for the same bytes, in quotes.
    pub etag: String,
    /// File of the variant; None for an original.
    file: Option<String>,
}

/// Why there is no variant.
#[derive(Debug, Error)]
pub enum RenderError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the stored file is not a picture in JPEG, PNG, WebP or GIF")]
    NotAnImage,
    #[error("the stored image cannot be decoded: {0}")]
    Undecodable(ImageError),
    #[error("{0} images are being resized already")]
    Busy(usize),
    #[error("the image was not resized within {MAX_RENDER_TIME:?}")]
    TooSlow,
}

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Renderer(Arc<Shared>);

struct Shared {
    originals: Images,
    disk: Variants,
    memory: Cache<String, Arc<Variant>, Weight>,
    queue: Arc<Semaphore>,
    queue_length: usize,
}

impl Renderer {
    /// Makes a renderer from the configuration, with the cache in the data directory.
    pub fn of(config: &Config, place: Place) -> Renderer {
        let disk = Variants::new(config.data_dir().join(CACHE_DIR), config.images.cache_bytes as u64);
        Renderer::new(Images::under(place), disk, config.images.render_queue)
    }

    /// `queue_length`: maximum number of renders that run or wait.
    pub fn new(originals: Images, disk: Variants, queue_length: usize) -> Renderer {
        Renderer(Arc::new(Shared {
            originals,
            disk,
            memory: Cache::with_weighter(ITEMS_IN_MEMORY, MAX_MEMORY, Weight),
            queue: Arc::new(Semaphore::new(queue_length)),
            queue_length,
        }))
    }

    /// The stored image at `path`, transformed.
    pub async fn variant(&self, path: &str, transform: &Transform) -> Result<Arc<Variant>, RenderError> {
        let key = key(path, transform);
        // one of the concurrent callers gets the guard, the others wait for the value that it inserts
        match self.0.memory.get_value_or_guard_async(&key).await {
            Ok(variant) => {
                if let Some(file) = &variant.file {
                    self.0.disk.note_use(file);
                }
                events::image_served("memory");
                Ok(variant)
            }
            Err(guard) => {
                let variant = Arc::new(self.load(path, transform, sha256_hex(&key)).await?);
                // fails only where the entry was removed, which nothing does
                let _ = guard.insert(Arc::clone(&variant));
                Ok(variant)
            }
        }
    }

    /// `digest`: the digest of the key.
    async fn load(&self, path: &str, transform: &Transform, digest: String) -> Result<Variant, RenderError> {
        // a video is not even opened
        if media_layout::is_media(path) && !media_layout::is_picture(path) {
            return Err(RenderError::NotAnImage);
        }
        // files of media have any format, and the metadata that strangers gave them
        if is_identity(transform) && image_layout::is_image(path) {
            events::image_served("original");
            return Variant::original(self.0.originals.read(path).await?, &digest);
        }
        let file = file_name(&digest, transform.format);
        if let Some(cached) = self.0.disk.get(&file).await {
            events::image_served("disk");
            return Ok(Variant::new(cached.bytes.into(), transform.format, cached.modified, &digest).on_disk(file));
        }
        self.render(path, transform, digest).await
    }

    /// Renders to the end, and keeps the result, even when the client leaves.
    async fn render(&self, path: &str, transform: &Transform, digest: String) -> Result<Variant, RenderError> {
        let permit = Arc::clone(&self.0.queue).try_acquire_owned();
        let permit = permit.map_err(|_| RenderError::Busy(self.0.queue_length))?;
        let (shared, path, transform) = (Arc::clone(&self.0), path.to_owned(), transform.clone());
        let rendering = tokio::spawn(async move {
            let rendered = shared.render(&path, transform, &digest).await;
            drop(permit);
            rendered
        });
        match timeout(MAX_RENDER_TIME, rendering).await {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(lost)) => match lost.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(RenderError::TooSlow),
            },
            Err(_) => Err(RenderError::TooSlow),
        }
    }
}

impl Shared {
    async fn render(&self, path: &str, transform: Transform, digest: &str) -> Result<Variant, RenderError> {
        let StoredImage { bytes, modified } = self.originals.read(path).await?;
        if Format::sniff(&bytes).is_none() {
            return Err(RenderError::NotAnImage);
        }
        let (format, file) = (transform.format, file_name(digest, transform.format));
        let rendered = cpu::run_image(move || image_transform::render(&bytes, &transform)).await;
        let bytes = rendered.map_err(RenderError::Undecodable)?.bytes;
        events::image_served("rendered");
        if let Err(error) = self.disk.put(&file, bytes.clone(), modified).await {
            events::image_not_cached(&error);
        }
        Ok(Variant::new(bytes.into(), format, modified, digest).on_disk(file))
    }
}

impl Variant {
    fn new(bytes: Bytes, format: Format, modified: SystemTime, digest: &str) -> Variant {
        let etag = format!("\"{}\"", digest.get(..TAG_CHARS).unwrap_or(digest));
        Variant { bytes, format, modified, etag, file: None }
    }

    fn original(stored: StoredImage, digest: &str) -> Result<Variant, RenderError> {
        let format = Format::sniff(&stored.bytes).ok_or(RenderError::NotAnImage)?;
        Ok(Variant::new(stored.bytes.into(), format, stored.modified, digest))
    }

    fn on_disk(self, file: String) -> Variant {
        Variant { file: Some(file), ..self }
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<String, Arc<Variant>> for Weight {
    fn weight(&self, key: &String, variant: &Arc<Variant>) -> u64 {
        ENTRY_BYTES + key.len() as u64 + variant.bytes.len() as u64
    }
}

/// Whether the original itself is requested.
fn is_identity(transform: &Transform) -> bool {
    let Transform { width, height, quality, fit: _, blur, gray, format, background, enlarge: _ } = transform;
    let has_size = width.is_some() || height.is_some();
    let is_stored_form = (*quality, *format) == (DEFAULT_QUALITY, Format::WebP);
    is_stored_form && !has_size && blur.is_none() && !gray && background.is_none()
}

fn file_name(digest: &str, format: Format) -> String {
    format!("{digest}.{}", format.extension())
}

fn key(path: &str, transform: &Transform) -> String {
    format!("{RENDERING} {path}?{}", transform.key())
}
