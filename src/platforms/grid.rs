//! A grid of discovery points over a state: circles that together cover the rectangle around it. Pure.

use super::DiscoveryPoint;

/// Maximum radius of a circle: a platform answers with all stores around a point at once.
const MAX_MILES: f64 = 100.0;
/// Maximum length of a degree of latitude, and of a degree of longitude at the equator.
const MILES_PER_DEGREE: f64 = 69.5;
/// Overlap of circles: coordinates are rounded, and the earth is round.
const SLACK_MILES: f64 = 2.0;

/// South, west, north, east, in degrees.
pub type Bounds = [f64; 4];

/// Row by row from the south; within a row from the west. A small state has one point.
pub fn over(bounds: &Bounds) -> Vec<DiscoveryPoint> {
    let [south, west, north, east] = *bounds;
    let side = (MAX_MILES - SLACK_MILES) * std::f64::consts::SQRT_2;
    let rows = parts((north - south) * MILES_PER_DEGREE, side);
    let height = (north - south) / rows as f64;
    (0..rows).flat_map(|row| points_of_row(south + row as f64 * height, height, (west, east), side)).collect()
}

fn points_of_row(south: f64, height: f64, (west, east): (f64, f64), side: f64) -> impl Iterator<Item = DiscoveryPoint> {
    // a row is widest at the end that is nearer to the equator
    let widest = if south <= 0.0 && south + height >= 0.0 { 0.0 } else { south.abs().min((south + height).abs()) };
    let degree = MILES_PER_DEGREE * widest.to_radians().cos();
    let columns = parts((east - west) * degree, side);
    let width = (east - west) / columns as f64;
    let miles = ((height * MILES_PER_DEGREE / 2.0).hypot(width * degree / 2.0) + SLACK_MILES).ceil();
    (0..columns).map(move |column| DiscoveryPoint {
        latitude: rounded(south + height / 2.0),
        longitude: rounded(west + (column as f64 + 0.5) * width),
        miles,
    })
}

/// Number of parts of at most `side` into which a length is cut.
fn parts(length: f64, side: f64) -> usize {
    ((length / side).ceil() as usize).max(1)
}

/// Rounds to about half a mile.
fn rounded(degrees: f64) -> f64 {
    (degrees * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EARTH_RADIUS_MILES: f64 = 3958.8;

    /// Great-circle distance.
    fn miles(from: (f64, f64), to: (f64, f64)) -> f64 {
        let (lat1, lat2) = (from.0.to_radians(), to.0.to_radians());
        let (dlat, dlng) = (lat2 - lat1, (to.1 - from.1).to_radians());
        let a = (dlat / 2.0).sin().powi(2) + lat1.cos() * lat2.cos() * (dlng / 2.0).sin().powi(2);
        2.0 * EARTH_RADIUS_MILES * a.sqrt().asin()
    }

    #[test]
    fn a_small_state_has_one_point_and_a_large_one_many() {
        let dc = over(&[38.7, -77.2, 39.0, -76.9]);
        assert_eq!((dc.len(), dc[0].latitude, dc[0].longitude), (1, 38.85, -77.05));
        assert!(dc[0].miles < 20.0, "{dc:?}");
        let texas = over(&[25.8, -106.7, 36.6, -93.5]);
        assert!((30..60).contains(&texas.len()), "{}", texas.len());
    }

    proptest! {
        #[test]
        fn every_place_is_near_a_point(
            south in 17.0f64..70.0, west in -170.0f64..-66.0,
            height in 0.1f64..17.0, width in 0.1f64..40.0,
            up in 0.0f64..=1.0, right in 0.0f64..=1.0,
        ) {
            let place = (south + up * height, west + right * width);
            let grid = over(&[south, west, south + height, west + width]);
            prop_assert!(grid.iter().all(|point| point.miles <= MAX_MILES + 1.0));
            let is_seen = |point: &DiscoveryPoint| miles(place, (point.latitude, point.longitude)) <= point.miles;
            prop_assert!(grid.iter().any(is_seen), "{place:?} is near none of {grid:?}");
        }
    }
}
