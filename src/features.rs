//! The optional parts of drover, and which of them this build has. It must not know what they do.

use std::sync::LazyLock;

/// Cargo's features and whether each is built in, by name.
const FEATURES: [(&str, bool); 8] = [
    ("cloud", cfg!(feature = "cloud")),
    ("dashboard", dashboard::IS_BUILT),
    ("demo", cfg!(feature = "demo")),
    ("ip2location", cfg!(feature = "ip2location")),
    ("kubernetes", cfg!(feature = "kubernetes")),
    ("mail", cfg!(feature = "mail")),
    ("media", cfg!(feature = "media")),
    ("parquet", cfg!(feature = "parquet")),
];

/// `0.1.0`, and in a second line the features.
pub static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{}\nfeatures: {}", env!("CARGO_PKG_VERSION"), built().join(", ")));

/// The answer where a build without media jobs is asked for one.
pub const NO_MEDIA: &str =
    "this build of drover has no media jobs: take a release, or build drover with its default features";

pub fn built() -> Vec<&'static str> {
    named(true)
}

pub fn absent() -> Vec<&'static str> {
    named(false)
}

fn named(is_built: bool) -> Vec<&'static str> {
    FEATURES.iter().filter(|(_, built)| *built == is_built).map(|(name, _)| *name).collect()
}
