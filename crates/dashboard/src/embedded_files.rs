//! The dashboard's files as the build has embedded them, minified.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::version_of;

include!(concat!(env!("OUT_DIR"), "/ui.rs"));

static VERSION: LazyLock<String> = LazyLock::new(|| version_of(FILES.iter().copied()));

pub fn get(name: &str) -> Option<Cow<'static, [u8]>> {
    FILES.iter().find(|(file, _)| *file == name).map(|(_, bytes)| Cow::Borrowed(*bytes))
}

/// The same for as long as no file changes: another build has other addresses.
pub fn version() -> String {
    VERSION.clone()
}

pub fn is_version(version: &str) -> bool {
    *VERSION == version
}
