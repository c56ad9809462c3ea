//! `Brands`: the invented makers of everything on sale, shared by all stores; and how one product names its
//! maker.

use crate::draw::{Draw, Topic};
use crate::pictures::PictureHost;
use crate::words;

const BRANDS: u64 = 96;

pub(crate) struct Brand {
    pub(crate) id: String,
    pub(crate) parent_id: String,
    pub(crate) name: String,
    pub(crate) image_url: Option<String>,
    pub(crate) description: String,
}

pub(crate) struct Brands(Vec<Brand>);

impl Brands {
    pub(crate) fn new(seed: u64, host: &PictureHost) -> Brands {
        Brands((0..BRANDS).map(|index| brand(seed, index, host)).collect())
    }

    pub(crate) fn pick(&self, draw: &mut Draw) -> &Brand {
        draw.pick(&self.0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Brand> {
        self.0.iter()
    }
}

/// Field in which upstream has the brand's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// The field `brand.name`.
    Object,
    /// `brand.name` is null; `brandName` holds it, with trailing blanks.
    BrandName,
    /// `brand` is null; `brandName` holds it.
    NoObject,
    /// `brand.name` is blank, `brandName` null: only `POSMetaData.canonicalBrandName` holds it.
    Canonical,
    /// No field holds it.
    Nameless,
}

impl Naming {
    /// `pos` = the product has POS metadata to hide a name in.
    pub(crate) fn draw(draw: &mut Draw, pos: bool) -> Naming {
        match draw.below(100) {
            0..84 => Naming::Object,
            84..90 => Naming::BrandName,
            90..94 => Naming::NoObject,
            94..97 if pos => Naming::Canonical,
            _ => Naming::Nameless,
        }
    }

    /// The product has the object `brand`, and in it the address of the logo.
    pub(crate) fn has_object(self) -> bool {
        matches!(self, Naming::Object | Naming::BrandName | Naming::Canonical)
    }
}

fn brand(seed: u64, index: u64, host: &PictureHost) -> Brand {
    let mut draw = Draw::of(seed, Topic::Brand, &[index]);
    let name = words::company(&mut draw);
    let length = draw.between(300, 1500) as usize;
    Brand {
        id: draw.uuid(),
        parent_id: draw.uuid(),
        name: if draw.percent(20) { format!("{name} & Co.") } else { name },
        image_url: draw.percent(85).then(|| host.url(&draw.hex32())),
        description: words::prose(&mut draw, length),
    }
}
