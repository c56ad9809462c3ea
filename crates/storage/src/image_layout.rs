//! Paths of stored images under the storage root. Pure: names in, relative paths out, and none that leads out
//! of the root.
//!
//! `images/products/<state>/<store>/<brand>/<product>/image-<hash>.webp` and
//! `images/brands/<brand>/logo-<hash>.webp`. Every part is a slug, whatever the names that it is made of
//! hold.

use std::path::{Path, PathBuf};

use domain::menu;
use domain::menu::image::Subject;
use foundation::digest::sha256_hex;

/// The directory of all images, and the first part of each one's path.
pub const IMAGES: &str = "images";
pub const PRODUCTS: &str = "images/products";
pub const BRANDS: &str = "images/brands";

const MAX_SLUG: usize = 80;
/// Number of hex digits of the content's SHA-256 in a file's name.
const HASH_DIGITS: usize = 8;
const PRODUCT_PREFIX: &str = "image-";
const BRAND_PREFIX: &str = "logo-";
const UNKNOWN: &str = "unknown";
/// Names that some file systems keep for devices.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The directory of all images of a store's products.
pub fn store_dir(state: Option<&str>, store: &str) -> String {
    let state = slug(state.unwrap_or_default());
    format!("{PRODUCTS}/{state}/{}", store_name(&state, store))
}

/// The directory of a subject's images.
pub fn dir(subject: &Subject) -> String {
    match subject {
        Subject::Product { state, store, brand, provider_product_id } => {
            let (store, brand) = (store_dir(state.as_deref(), store), brand_slug(brand.as_deref()));
            format!("{store}/{brand}/{}", exact_slug(provider_product_id))
        }
        Subject::Brand { slug } => format!("{BRANDS}/{slug}"),
    }
}

/// The file for content with this SHA-256.
pub fn file(subject: &Subject, sha256: &str) -> String {
    let hash = sha256.get(..HASH_DIGITS).unwrap_or(sha256);
    format!("{}/{}{hash}.webp", dir(subject), prefix(subject))
}

/// Whether `name` names one of the subject's images.
pub fn owns(subject: &Subject, name: &str) -> bool {
    is_image_name(name, prefix(subject))
}

fn prefix(subject: &Subject) -> &'static str {
    match subject {
        Subject::Product { .. } => PRODUCT_PREFIX,
        Subject::Brand { .. } => BRAND_PREFIX,
    }
}

/// The slug of a brand's name, by which spellings of one brand are the same.
pub fn brand_slug(name: Option<&str>) -> String {
    slug(&menu::brand::key(name.unwrap_or_default()))
}

/// The file at `path` under `root`; None when the layout cannot name it.
pub fn resolve(root: &Path, path: &str) -> Option<PathBuf> {
    is_image(path).then(|| root.join(path))
}

/// Whether the layout can name `path`.
pub fn is_image(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [IMAGES, "products", dirs @ .., name] => {
            dirs.len() == 4 && dirs.iter().all(|dir| is_slug(dir)) && is_image_name(name, PRODUCT_PREFIX)
        }
        [IMAGES, "brands", brand, name] => is_slug(brand) && is_image_name(name, BRAND_PREFIX),
        _ => false,
    }
}

/// A slug that begins with its state keeps it.
fn store_name(state: &str, store: &str) -> String {
    let store = slug(store);
    match store.strip_prefix(state).is_some_and(|rest| rest.starts_with('-')) {
        true => store,
        false => slug(&format!("{state}-{store}")),
    }
}

/// Lower-case ASCII letters and digits, with single dashes between them. A name of other characters alone
/// gets one by its hash.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => slug.push(character.to_ascii_lowercase()),
            // an apostrophe parts no word
            '\'' | '’' => {}
            _ if !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    let slug = slug.trim_matches('-');
    match slug {
        "" if name.trim().is_empty() => UNKNOWN.to_owned(),
        "" => with_hash("x", name),
        slug if RESERVED.contains(&slug) => with_hash(slug, name),
        slug if slug.len() > MAX_SLUG => with_hash(slug, name),
        slug => slug.to_owned(),
    }
}

/// Ids that differ in case or in other characters keep directories of their own.
fn exact_slug(id: &str) -> String {
    let slug = slug(id);
    if slug == id { slug } else { with_hash(&slug, id) }
}

fn with_hash(slug: &str, name: &str) -> String {
    let hash = &sha256_hex(name)[..HASH_DIGITS];
    let beginning = &slug[..slug.len().min(MAX_SLUG - HASH_DIGITS - 1)];
    format!("{}-{hash}", beginning.trim_end_matches('-'))
}

fn is_slug(part: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_SLUG).contains(&part.len()) && part.bytes().all(is_plain)
}

fn is_image_name(name: &str, prefix: &str) -> bool {
    let hash = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".webp"));
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    hash.is_some_and(|hash| hash.len() == HASH_DIGITS && hash.bytes().all(is_hex))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn product(state: &str, store: &str, brand: &str, id: &str) -> Subject {
        Subject::Product {
            state: Some(state.to_owned()),
            store: store.to_owned(),
            brand: Some(brand.to_owned()),
            provider_product_id: id.to_owned(),
        }
    }

    #[test]
    fn a_product_has_the_path_of_the_specification() {
        let product = product("AZ", "deeply-rooted", "Bud Bros", "6913e3cd444eac3935e928b9");
        assert_eq!(
            file(&product, "ae38b1f9000000"),
            "images/products/az/az-deeply-rooted/bud-bros/6913e3cd444eac3935e928b9/image-ae38b1f9.webp"
        );
    }

    #[test]
    fn a_logo_lies_with_its_brand() {
        let brand = Subject::Brand { slug: brand_slug(Some("Bud Bros & Co.")) };
        assert_eq!(file(&brand, "ae38b1f9000000"), "images/brands/bud-bros-co/logo-ae38b1f9.webp");
    }

    #[rstest]
    #[case::plain("Bud Bros", "bud-bros")]
    #[case::no_name("", "unknown")]
    #[case::blanks("  ", "unknown")]
    #[case::an_apostrophe("Dr. Green's", "dr-greens")]
    #[case::climbing("../../etc", "etc")]
    fn a_name_becomes_a_slug(#[case] name: &str, #[case] expected: &str) {
        assert_eq!(slug(name), expected);
    }

    #[rstest]
    #[case::reserved("CON", "con-")]
    #[case::another_script("花", "x-")]
    fn a_name_that_makes_no_slug_gets_one_by_its_hash(#[case] name: &str, #[case] beginning: &str) {
        let given = slug(name);
        assert!(
            given.starts_with(beginning) && given.len() == beginning.len() + HASH_DIGITS && is_slug(&given),
            "{given}"
        );
    }

    #[rstest]
    #[case::case_("BUD bros", "Bud Bros")]
    #[case::blanks("Bud\u{a0}  Bros ", "Bud Bros")]
    #[case::invisible("Bu\u{200b}d Bros\u{feff}", "Bud Bros")]
    #[case::decomposed("Cafe\u{301}", "Caf\u{e9}")]
    #[case::of_another_script("\u{200b}БРЕНД  1", "бренд 1")]
    fn spellings_of_a_brand_have_one_slug(#[case] one: &str, #[case] other: &str) {
        assert_eq!(brand_slug(Some(one)), brand_slug(Some(other)));
    }

    #[test]
    fn a_slug_that_begins_with_its_state_is_not_doubled() {
        assert!(dir(&product("AZ", "az-deeply-rooted", "b", "1")).starts_with("images/products/az/az-deeply-rooted/"));
        assert!(dir(&product("AZ", "aztec", "b", "1")).starts_with("images/products/az/az-aztec/"));
    }

    #[test]
    fn ids_that_differ_only_in_case_have_directories_of_their_own() {
        assert_ne!(dir(&product("AZ", "s", "b", "aB1")), dir(&product("AZ", "s", "b", "ab1")));
    }

    #[rstest]
    #[case::a_product("images/products/az/az-s/b/1/image-ae38b1f9.webp", true)]
    #[case::a_logo("images/brands/b/logo-ae38b1f9.webp", true)]
    #[case::another_extension("images/products/az/az-s/b/1/image-ae38b1f9.png", false)]
    #[case::a_temporary_file("images/products/az/az-s/b/1/.image.tmp", false)]
    #[case::a_level_less("images/products/az/az-s/b/image-ae38b1f9.webp", false)]
    #[case::climbing("images/products/../az-s/b/1/image-ae38b1f9.webp", false)]
    #[case::absolute("/images/brands/b/logo-ae38b1f9.webp", false)]
    #[case::an_empty_part("images//brands/b/logo-ae38b1f9.webp", false)]
    #[case::upper_case("images/brands/B/logo-ae38b1f9.webp", false)]
    #[case::nul("images/brands/b\0/logo-ae38b1f9.webp", false)]
    #[case::backslash("images/brands/b\\c/logo-ae38b1f9.webp", false)]
    #[case::encoded("images/brands/%2e%2e/logo-ae38b1f9.webp", false)]
    #[case::a_payload("payloads/2025/01/10/store_1.json.gz", false)]
    #[case::empty("", false)]
    fn only_what_the_layout_can_name_is_resolved(#[case] path: &str, #[case] fine: bool) {
        assert_eq!(resolve(Path::new("/data"), path).is_some(), fine);
    }

    proptest! {
        #[test]
        fn whatever_the_names_the_path_is_one_of_the_layout(
            state in ".{0,4}", store in ".{0,120}", brand in ".{0,120}", id in ".{0,120}"
        ) {
            let product = product(&state, &store, &brand, &id);
            prop_assert!(is_image(&file(&product, &sha256_hex(&id))), "{}", dir(&product));
        }
    }
}
