//! Where stores are: a state, its clock, its city, and how far the state reaches.

pub(crate) struct Place {
    pub(crate) state: &'static str,
    pub(crate) timezone: &'static str,
    /// Latitude and longitude of its largest city.
    pub(crate) city: (f64, f64),
    /// South-west and north-east of a rectangle in the state.
    pub(crate) corners: [(f64, f64); 2],
    pub(crate) zip: u64,
}

/// Distance of stores from their city, in degrees.
const AROUND_CITY: f64 = 0.25;

impl Place {
    /// Position of a store, by two numbers from 0 to 1: near the city, or anywhere in the state.
    pub(crate) fn position(&self, spread: bool, (up, right): (f64, f64)) -> (f64, f64) {
        let (latitude, longitude) = self.city;
        let around =
            [(latitude - AROUND_CITY, longitude - AROUND_CITY), (latitude + AROUND_CITY, longitude + AROUND_CITY)];
        let [(south, west), (north, east)] = if spread { self.corners } else { around };
        (south + up * (north - south), west + right * (east - west))
    }
}

/// Name of one of the states of [`PLACES`].
pub(crate) fn state_name(code: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 9] = [
        ("AZ", "Arizona"),
        ("CA", "California"),
        ("CO", "Colorado"),
        ("IL", "Illinois"),
        ("MA", "Massachusetts"),
        ("MI", "Michigan"),
        ("NV", "Nevada"),
        ("OR", "Oregon"),
        ("PA", "Pennsylvania"),
    ];
    NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

pub(crate) static PLACES: &[Place] = &[
    Place {
        state: "AZ",
        timezone: "America/Phoenix",
        city: (33.45, -112.07),
        corners: [(31.6, -114.0), (36.9, -109.2)],
        zip: 85_001,
    },
    Place {
        state: "CA",
        timezone: "America/Los_Angeles",
        city: (34.05, -118.24),
        corners: [(33.0, -121.0), (40.0, -117.0)],
        zip: 90_001,
    },
    Place {
        state: "CO",
        timezone: "America/Denver",
        city: (39.74, -104.99),
        corners: [(37.1, -108.9), (40.9, -102.2)],
        zip: 80_201,
    },
    Place {
        state: "IL",
        timezone: "America/Chicago",
        city: (41.88, -87.63),
        corners: [(37.5, -90.0), (42.3, -88.0)],
        zip: 60_601,
    },
    Place {
        state: "MA",
        timezone: "America/New_York",
        city: (42.36, -71.06),
        corners: [(41.7, -73.0), (42.6, -70.5)],
        zip: 2108,
    },
    Place {
        state: "MI",
        timezone: "America/Detroit",
        city: (42.33, -83.05),
        corners: [(42.0, -86.0), (46.0, -83.0)],
        zip: 48_201,
    },
    Place {
        state: "NV",
        timezone: "America/Los_Angeles",
        city: (36.17, -115.14),
        corners: [(36.0, -119.5), (41.8, -114.5)],
        zip: 89_101,
    },
    Place {
        state: "OR",
        timezone: "America/Los_Angeles",
        city: (45.52, -122.68),
        corners: [(42.2, -123.8), (45.8, -117.2)],
        zip: 97_201,
    },
    Place {
        state: "PA",
        timezone: "America/New_York",
        city: (39.95, -75.17),
        corners: [(39.9, -80.3), (41.9, -75.2)],
        zip: 19_101,
    },
];

/// Great-circle distance in miles.
pub(crate) fn miles(from: (f64, f64), to: (f64, f64)) -> f64 {
    const EARTH_RADIUS_MILES: f64 = 3958.8;
    let (lat1, lat2) = (from.0.to_radians(), to.0.to_radians());
    let (dlat, dlng) = (lat2 - lat1, (to.1 - from.1).to_radians());
    let a = (dlat / 2.0).sin().powi(2) + lat1.cos() * lat2.cos() * (dlng / 2.0).sin().powi(2);
    2.0 * EARTH_RADIUS_MILES * a.sqrt().asin()
}
