//! `Attributes`: facts about a product that some platforms state, and that no price or stock depends on.
//!
//! The list of names is closed. A platform's reader hands over what it found; here it is trimmed to its bounds, and becomes JSON.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::content_hash;
use super::hashed_json::HashedJson;

/// Maximum number of terpenes and of tags.
const MAX_LIST: usize = 32;
/// Maximum number of characters of a text, and of an address.
const MAX_TEXT: usize = 200;
const MAX_URL: usize = 2000;
/// Ratings of all platforms are stars.
const MAX_RATING: f64 = 5.0;

/// Facts of a product beyond price, stock and potency; a platform states some of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Attributes {
    /// Name of the strain, such as `Sunday Biscuit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strain_name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terpenes: Vec<Terpene>,
    /// Effects, flavours and activities, in the platform's words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Mean of the customers' ratings, 0 to 5, and their number, both as they were when another field of the product last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviews: Option<i64>,
    /// Page of the product at the platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_url: Option<String>,
    /// The platform's id of the brand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand_id: Option<String>,
    /// Whether it can be ordered for pick-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pickup: Option<bool>,
    /// Whether it can be ordered for delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Terpene {
    pub name: String,
    /// Per cent of the weight; null if the platform names it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

/// The attributes as a store keeps them.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributesJson {
    json: HashedJson,
    /// Hash of the attributes without rating and reviews, since a review alone does not change the product.
    lasting: i64,
}

impl Attributes {
    /// None: nothing is stated.
    pub fn into_json(self) -> Option<AttributesJson> {
        let bounded = self.bounded();
        if bounded == Attributes::default() {
            return None;
        }
        let json = HashedJson::new(serde_json::to_string(&bounded).ok()?);
        let lasting = Attributes { rating: None, reviews: None, ..bounded };
        let lasting = content_hash::of_text(&serde_json::to_string(&lasting).ok()?);
        Some(AttributesJson { json, lasting })
    }

    fn bounded(self) -> Attributes {
        let terpenes = self.terpenes.into_iter().filter(|terpene| is_short(&terpene.name));
        let terpenes = terpenes.map(|Terpene { name, percent }| {
            let percent = percent.filter(|percent| (0.0..=100.0).contains(percent)).map(rounded);
            Terpene { name, percent }
        });
        let rating = self.rating.map(rounded).filter(|rating| *rating > 0.0 && *rating <= MAX_RATING);
        Attributes {
            strain_name: self.strain_name.filter(|name| is_short(name)),
            terpenes: terpenes.take(MAX_LIST).collect(),
            tags: distinct(self.tags),
            // no review has no rating: 0 stars are none
            reviews: self.reviews.filter(|reviews| *reviews > 0),
            rating,
            item_url: self.item_url.filter(|url| url.chars().count() <= MAX_URL),
            brand_id: self.brand_id.filter(|id| is_short(id)),
            ..self
        }
    }
}

impl AttributesJson {
    pub fn json(&self) -> &HashedJson {
        &self.json
    }

    /// Hash of what makes a product count as changed.
    pub fn lasting_hash(&self) -> i64 {
        self.lasting
    }
}

/// Platforms compute with floats: more digits are noise.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn is_short(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= MAX_TEXT
}

/// Each tag once, in the platform's order.
fn distinct(tags: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags.into_iter().filter(|tag| is_short(tag)) {
        if kept.len() < MAX_LIST && !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn rated(rating: f64, reviews: i64) -> Attributes {
        let strain_name = Some("Sunday Biscuit".to_owned());
        Attributes { strain_name, rating: Some(rating), reviews: Some(reviews), ..Attributes::default() }
    }

    fn text(attributes: Attributes) -> Option<String> {
        attributes.into_json().map(|json| json.json().as_str().to_owned())
    }

    #[rstest]
    #[case::nothing(Attributes::default(), None)]
    #[case::no_review(Attributes { rating: Some(0.0), reviews: Some(0), ..Attributes::default() }, None)]
    #[case::a_rating_of_no_scale(Attributes { rating: Some(47.0), ..Attributes::default() }, None)]
    #[case::an_empty_name(Attributes { brand_id: Some(String::new()), ..Attributes::default() }, None)]
    #[case::a_name_of_a_page(Attributes { strain_name: Some("x".repeat(201)), ..Attributes::default() }, None)]
    #[case::not_delivered(
        Attributes { delivery: Some(false), ..Attributes::default() },
        Some(r#"{"delivery":false}"#)
    )]
    #[case::tags_twice(
        Attributes { tags: ["Calm", "Happy", "Calm"].map(str::to_owned).to_vec(), ..Attributes::default() },
        Some(r#"{"tags":["Calm","Happy"]}"#)
    )]
    #[case::terpenes(
        Attributes {
            terpenes: vec![
                Terpene { name: "Myrcene".to_owned(), percent: Some(0.4) },
                Terpene { name: "Pinene".to_owned(), percent: Some(f64::NAN) },
            ],
            ..Attributes::default()
        },
        Some(r#"{"terpenes":[{"name":"Myrcene","percent":0.4},{"name":"Pinene"}]}"#)
    )]
    fn only_what_is_stated_within_its_bounds_is_kept(#[case] attributes: Attributes, #[case] json: Option<&str>) {
        assert_eq!(text(attributes).as_deref(), json);
    }

    #[test]
    fn a_review_alone_is_no_change_of_the_product() {
        let [before, after] = [rated(4.5, 3), rated(4.6, 4)].map(|rated| rated.into_json().unwrap());
        assert_ne!(before.json(), after.json());
        assert_eq!(before.lasting_hash(), after.lasting_hash());
    }

    proptest! {
        #[test]
        fn the_json_is_bounded_and_reads_as_it_was(
            tags in prop::collection::vec(".{0,300}", 0..60),
            names in prop::collection::vec(".{0,300}", 0..60),
            percent in any::<f64>(),
            rating in any::<f64>(),
        ) {
            let terpenes = names.into_iter().map(|name| Terpene { name, percent: Some(percent) }).collect();
            let attributes = Attributes { tags, terpenes, rating: Some(rating), ..Attributes::default() };
            if let Some(json) = attributes.into_json() {
                let text = json.json().as_str();
                prop_assert!(text.chars().count() < 2 * MAX_LIST * (6 * MAX_TEXT + 100));
                let read: Attributes = serde_json::from_str(text).unwrap();
                prop_assert_eq!(read.into_json(), Some(json));
            }
        }
    }
}
