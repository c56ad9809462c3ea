//! Brands as platforms write them: an object with a name and an image; in old data, the bare name.

use super::Raw;
use super::items::raw_object;
use super::reader::Reader;

#[derive(Default)]
pub struct Brand {
    pub name: Option<String>,
    pub image_url: Option<String>,
}

raw_object! {
    #[serde(rename_all = "camelCase")]
    WireBrand {
        name, image_url,
    }
}

pub fn brand(raw: Raw<'_>, read: &mut Reader<'_>) -> Brand {
    if raw.is_some_and(|raw| raw.get().starts_with('"')) {
        return Brand { name: read.text(raw, "brand"), image_url: None };
    }
    let brand: WireBrand<'_> = read.object(raw, "brand").unwrap_or_default();
    Brand { name: read.text(brand.name, "brand.name"), image_url: read.address(brand.image_url, "brand.imageUrl") }
}
