//! `Place`: where an address is, as far as a geo database says.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::us_states;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Place {
    /// Two letters (ISO 3166-1).
    pub country: Option<String>,
    pub country_name: Option<String>,
    /// The country's part: of the United States, the state.
    pub region: Option<String>,
    pub city: Option<String>,
    /// `America/Phoenix` or `-07:00`, as the geo database gives it.
    pub timezone: Option<String>,
}

impl Place {
    /// The postal code of the US state that it is in.
    pub fn us_state(&self) -> Option<&'static str> {
        let region = self.region.as_deref().filter(|_| self.country.as_deref() == Some("US"))?;
        us_states::code(region)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::by_name("US", Some("Arizona"), Some("AZ"))]
    #[case::by_code("US", Some("AZ"), Some("AZ"))]
    #[case::another_country("AU", Some("Western Australia"), None)]
    #[case::a_name_of_both("GE", Some("Georgia"), None)]
    #[case::no_region("US", None, None)]
    fn a_state_is_one_of_the_united_states(
        #[case] country: &str,
        #[case] region: Option<&str>,
        #[case] state: Option<&str>,
    ) {
        let place = Place { country: Some(country.to_owned()), region: region.map(str::to_owned), ..Place::default() };
        assert_eq!(place.us_state(), state);
    }
}
