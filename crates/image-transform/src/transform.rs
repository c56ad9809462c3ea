//! `Transform`: what a rendering shall look like, and its text for keys of a cache.

use crate::{BadParameter, Format, accept, parameters};

/// The quality of lossy formats where none is asked for, and of kept images.
pub const DEFAULT_QUALITY: u8 = 80;

/// Maximum number of pixels of a side that a query may ask for.
pub const MAX_TARGET_SIDE: u32 = 4000;

/// Least sigma of a blur; below it nothing shows.
pub const MIN_BLUR: f32 = 0.3;

/// Greatest sigma of a blur.
pub const MAX_BLUR: f32 = 1000.0;

/// How a picture fits a width and a height that are both given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fit {
    /// Fills the size and loses what hangs over, evenly on both sides.
    Cover,
    /// Lies in the size, with padding around it.
    Contain,
    /// Takes the size, and loses its ratio.
    Fill,
    /// Fits into the size.
    #[default]
    Inside,
    /// Reaches the size on both sides, and keeps what hangs over.
    Outside,
}

impl Fit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Fit::Cover => "cover",
            Fit::Contain => "contain",
            Fit::Fill => "fill",
            Fit::Inside => "inside",
            Fit::Outside => "outside",
        }
    }
}

/// The look, size and format of a rendering.
#[derive(Debug, Clone, PartialEq)]
pub struct Transform {
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// Quality from 1 to 100; without meaning for PNG.
    pub quality: u8,
    pub fit: Fit,
    /// The blur's sigma in pixels of the result.
    pub blur: Option<f32>,
    pub gray: bool,
    pub format: Format,
    /// RGBA behind `contain`, and behind transparency in JPEG.
    pub background: Option<[u8; 4]>,
    /// Whether it may grow beyond the original.
    pub enlarge: bool,
}

impl Default for Transform {
    fn default() -> Transform {
        Transform {
            width: None,
            height: None,
            quality: DEFAULT_QUALITY,
            fit: Fit::default(),
            blur: None,
            gray: false,
            format: Format::WebP,
            background: None,
            enlarge: false,
        }
    }
}

/// A transform as a client asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub transform: Transform,
    /// The format was left to us (`format=auto`), so that another `Accept` may give another answer.
    pub varies_by_accept: bool,
}

impl Transform {
    /// Reads the query's pairs, already percent-decoded. `accept` is the request's header, for `format=auto`.
    ///
    /// # Errors
    /// The first parameter that is unknown, repeated or out of its range, with that range.
    pub fn parse<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
        accept: Option<&str>,
    ) -> Result<Request, BadParameter> {
        let parsed = parameters::parse(pairs)?;
        let mut transform = parsed.transform;
        if parsed.is_auto {
            transform.format = accept::best_format(accept.unwrap_or_default());
        }
        Ok(Request { transform, varies_by_accept: parsed.is_auto })
    }

    /// A stable text for keys of a cache: what differs from the defaults and shows in the result, sorted by name.
    pub fn key(&self) -> String {
        let has_both_sides = self.width.is_some() && self.height.is_some();
        let has_a_side = self.width.is_some() || self.height.is_some();
        // by one side alone, all but `fill` keep the ratio
        let shows_fit = has_both_sides || (has_a_side && self.fit == Fit::Fill);
        let shows_background = self.format == Format::Jpeg || (has_both_sides && self.fit == Fit::Contain);
        let white_is_default = self.format == Format::Jpeg && self.background == Some([255; 4]);
        let is_lossy = self.format != Format::Png;
        let background = self.background.filter(|_| shows_background && !white_is_default);
        let parts = [
            background.map(|[r, g, b, a]| format!("bg={r:02x}{g:02x}{b:02x}{a:02x}")),
            self.blur.map(|sigma| format!("blur={sigma}")),
            (self.enlarge && has_a_side).then(|| "enlarge=1".to_owned()),
            (shows_fit && self.fit != Fit::default()).then(|| format!("fit={}", self.fit.name())),
            (self.format != Format::WebP).then(|| format!("format={}", self.format.name())),
            self.gray.then(|| "gray=1".to_owned()),
            self.height.map(|height| format!("h={height}")),
            (self.quality != DEFAULT_QUALITY && is_lossy).then(|| format!("q={}", self.quality)),
            self.width.map(|width| format!("w={width}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("&")
    }
}
