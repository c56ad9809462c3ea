//! Where stores are: a state, its clock, and a point to look for stores around.

pub(crate) struct Place {
    pub(crate) state: &'static str,
    pub(crate) timezone: &'static str,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) zip: u64,
}

pub(crate) static PLACES: &[Place] = &[
    Place { state: "AZ", timezone: "America/Phoenix", latitude: 33.45, longitude: -112.07, zip: 85_001 },
    Place { state: "CA", timezone: "America/Los_Angeles", latitude: 34.05, longitude: -118.24, zip: 90_001 },
    Place { state: "CO", timezone: "America/Denver", latitude: 39.74, longitude: -104.99, zip: 80_201 },
    Place { state: "IL", timezone: "America/Chicago", latitude: 41.88, longitude: -87.63, zip: 60_601 },
    Place { state: "MA", timezone: "America/New_York", latitude: 42.36, longitude: -71.06, zip: 2108 },
    Place { state: "MI", timezone: "America/Detroit", latitude: 42.33, longitude: -83.05, zip: 48_201 },
    Place { state: "NV", timezone: "America/Los_Angeles", latitude: 36.17, longitude: -115.14, zip: 89_101 },
    Place { state: "OR", timezone: "America/Los_Angeles", latitude: 45.52, longitude: -122.68, zip: 97_201 },
    Place { state: "PA", timezone: "America/New_York", latitude: 39.95, longitude: -75.17, zip: 19_101 },
];

/// Great-circle distance in miles.
pub(crate) fn miles(from: (f64, f64), to: (f64, f64)) -> f64 {
    const EARTH_RADIUS_MILES: f64 = 3958.8;
    let (lat1, lat2) = (from.0.to_radians(), to.0.to_radians());
    let (dlat, dlng) = (lat2 - lat1, (to.1 - from.1).to_radians());
    let a = (dlat / 2.0).sin().powi(2) + lat1.cos() * lat2.cos() * (dlng / 2.0).sin().powi(2);
    2.0 * EARTH_RADIUS_MILES * a.sqrt().asin()
}
