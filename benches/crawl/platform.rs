//! The platform whose menus are crawled: drover's settings for its simulation.

use domain::store::Platform;

/// Variables by which drover finds the simulated platform at this address, with its key if it takes one.
pub fn settings(platform: Platform, base_url: &str, key: Option<&str>) -> Vec<(String, String)> {
    let of = |name: &str, value: &str| {
        (format!("DROVER__PLATFORM__{}__{name}", platform.name().to_ascii_uppercase()), value.to_owned())
    };
    let contact = ("DROVER__HTTP__OWN_CONTACT".to_owned(), "https://copperfern.example/crawler".to_owned());
    let key = key.map(|key| of("KEY", key));
    [of("BASE_URL", base_url), of("ENABLED", "true"), contact].into_iter().chain(key).collect()
}
