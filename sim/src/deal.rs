//! Deals: specials on several pieces together, as their stores mean them and as they write them.

use crate::category::CATEGORIES;
use crate::draw::Draw;

/// A deal that a store means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deal {
    /// A number of pieces at one price.
    Total { pieces: i64, cents: i64 },
    /// Further pieces for those who buy some, each at a part of its price, in hundredths of a percent.
    Reward { bought: i64, gained: i64, percent: i64 },
    /// The same, each at a price in cents.
    RewardAt { bought: i64, gained: i64, cents: i64 },
}

/// The fields of a deal on the wire, beside its name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fields {
    None,
    /// `itemsForAPrice`
    Total {
        pieces: u32,
        dollars: u32,
    },
    /// Conditions and rewards with one discount: its field and value.
    Reward {
        bought: u32,
        gained: u32,
        discount: (&'static str, f64),
        other_goods: bool,
    },
}

/// A deal as it is written.
pub(crate) struct WrittenDeal {
    pub(crate) name: &'static str,
    pub(crate) fields: Fields,
    /// None = it says nothing of one product's price.
    pub(crate) meant: Option<Deal>,
}

const fn words(name: &'static str, meant: Option<Deal>) -> WrittenDeal {
    WrittenDeal { name, fields: Fields::None, meant }
}

const FREE: i64 = 0;
const HALF: i64 = 5000;

pub(crate) static WRITTEN: &[WrittenDeal] = &[
    words("2 for $50", Some(Deal::Total { pieces: 2, cents: 5000 })),
    words("Any 3 for 60! *NOT Stackable ", Some(Deal::Total { pieces: 3, cents: 6000 })),
    words("4/$45.50 mix & match", Some(Deal::Total { pieces: 4, cents: 4550 })),
    words("3 for 2", Some(Deal::Reward { bought: 2, gained: 1, percent: FREE })),
    words("Buy 2, Get 1 Free", Some(Deal::Reward { bought: 2, gained: 1, percent: FREE })),
    words("Buy one get one 50% off", Some(Deal::Reward { bought: 1, gained: 1, percent: HALF })),
    words("BOGO", Some(Deal::Reward { bought: 1, gained: 1, percent: FREE })),
    words("B3G2 half off", Some(Deal::Reward { bought: 3, gained: 2, percent: HALF })),
    words("Buy 1 get 1 for a penny", Some(Deal::RewardAt { bought: 1, gained: 1, cents: 1 })),
    WrittenDeal {
        name: "Weekend bundle",
        fields: Fields::Total { pieces: 3, dollars: 75 },
        meant: Some(Deal::Total { pieces: 3, cents: 7500 }),
    },
    WrittenDeal {
        name: "Weekend treat: 9 for $1",
        fields: Fields::Reward { bought: 2, gained: 1, discount: ("percentDiscount", 33.33), other_goods: false },
        meant: Some(Deal::Reward { bought: 2, gained: 1, percent: 6667 }),
    },
    WrittenDeal {
        name: "One more",
        fields: Fields::Reward { bought: 1, gained: 1, discount: ("targetPrice", 5.0), other_goods: false },
        meant: Some(Deal::RewardAt { bought: 1, gained: 1, cents: 500 }),
    },
    // nonsense, and deals of more than one product
    WrittenDeal {
        name: "Flower and a roll",
        fields: Fields::Reward { bought: 1, gained: 1, discount: ("percentDiscount", 100.0), other_goods: true },
        meant: None,
    },
    WrittenDeal {
        name: "Too good",
        fields: Fields::Reward { bought: 1, gained: 1, discount: ("percentDiscount", 150.0), other_goods: false },
        meant: None,
    },
    words("Buy one get one 150% off", None),
    words("1 for $20", None),
    words("0 for $20", None),
    words("28g for $100", None),
    words("1/8 for $25", None),
    words("2 for $50 or 4 for $90", None),
    words("20% off everything", None),
    words("3 for $9,999", None),
];

/// Pieces and dollars of a deal of plain goods, from the numbers for how a sale is described. Moves the draw on.
pub(crate) fn plain(draw: &mut Draw) -> (u64, u64) {
    (draw.between(2, 4), draw.between(20, 90))
}

/// The deal of plain goods that these numbers describe.
pub(crate) fn plain_meant(mut special_look: Draw) -> Deal {
    special_look.pick(CATEGORIES);
    let (pieces, dollars) = plain(&mut special_look);
    Deal::Total { pieces: pieces as i64, cents: dollars as i64 * 100 }
}
