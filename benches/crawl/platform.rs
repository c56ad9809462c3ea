//! The platform whose menus are crawled: drover's settings for its simulation.

use domain::store::Platform;

/// Variables by which drover finds the simulated platform at this address.
pub fn settings(platform: Platform, base_url: &str) -> Vec<(String, String)> {
    let of = |name: &str| format!("DROVER__PLATFORM__{}__{name}", platform.name().to_ascii_uppercase());
    let base_url = (of("BASE_URL"), base_url.to_owned());
    match platform {
        Platform::Jane => vec![base_url, (of("KEY"), sim::JANE_KEY.to_owned())],
        Platform::Weedmaps => vec![
            base_url,
            (of("ENABLED"), "true".to_owned()),
            ("DROVER__HTTP__OWN_CONTACT".to_owned(), "https://copperfern.example/crawler".to_owned()),
        ],
        _ => vec![base_url],
    }
}
