//! The questions whose answers exports have: an export has the filters of several lists, and a list some of them.

use super::ExportQuery;
use crate::prices::{PriceChangeQuestion, UnitPriceQuestion};
use crate::products::ProductQuestion;

impl ExportQuery {
    /// The search for products with the words; None: there are no words.
    pub fn search(&self) -> Option<ProductQuestion> {
        let ExportQuery { q, store, state, city, brand, category, in_stock, on_special, .. } = self.clone();
        let ExportQuery { min_price, max_price, max_unit_price, platform, .. } = *self;
        let (sort, after) = (None, None);
        q.as_ref()?;
        Some(ProductQuestion {
            q,
            state,
            city,
            platform,
            store,
            category,
            brand,
            in_stock,
            on_special,
            min_price,
            max_price,
            max_unit_price,
            sort,
            after,
        })
    }

    /// The comparison with the prices of another time.
    pub fn price_changes(&self) -> PriceChangeQuestion {
        let ExportQuery { q, state, city, group, brand, category, .. } = self.clone();
        let ExportQuery { since, direction, sort, store, platform, in_stock, on_special, .. } = *self;
        let ExportQuery { min_price, max_price, max_unit_price, .. } = *self;
        PriceChangeQuestion {
            since,
            q,
            direction,
            sort,
            state,
            city,
            platform,
            group,
            store,
            category,
            brand,
            in_stock,
            on_special,
            min_price,
            max_price,
            max_unit_price,
            ..PriceChangeQuestion::default()
        }
    }

    /// The comparison of prices by unit.
    pub fn unit_prices(&self) -> UnitPriceQuestion {
        let ExportQuery { state, category, brand, .. } = self.clone();
        let ExportQuery { by, unit, week, .. } = *self;
        UnitPriceQuestion { by, unit, state, category, brand, week }
    }
}
