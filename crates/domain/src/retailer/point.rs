//! `Point`: where a store is. In: degrees. Out: distances in miles, and the key of a point at which several stores are.

const EARTH_RADIUS: f64 = 3_958.8;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub latitude: f64,
    pub longitude: f64,
}

impl Point {
    /// None where the degrees are none, or are the zeros of an empty field.
    pub fn new(latitude: Option<f64>, longitude: Option<f64>) -> Option<Point> {
        let (latitude, longitude) = (latitude?, longitude?);
        let is_on_earth = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
        let is_zero = latitude == 0.0 && longitude == 0.0;
        (is_on_earth && !is_zero).then_some(Point { latitude, longitude })
    }

    pub fn miles_to(self, other: Point) -> f64 {
        let (from, to) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half = |one: f64, other: f64| ((other - one) / 2.0).sin().powi(2);
        let longitudes = half(self.longitude.to_radians(), other.longitude.to_radians());
        let haversine = half(from, to) + from.cos() * to.cos() * longitudes;
        2.0 * EARTH_RADIUS * haversine.clamp(0.0, 1.0).sqrt().asin()
    }

    /// The cell of a grid: its height and width are degrees, and it is moved by parts of a cell.
    pub fn cell(self, size: [f64; 2], moved: [f64; 2]) -> (i32, i32) {
        // both are below a hundred million
        let index = |degrees: f64, axis: usize| (degrees / size[axis] + moved[axis]).floor() as i32;
        (index(self.latitude, 0), index(self.longitude, 1))
    }

    /// The point to about a yard.
    pub fn key(self) -> (i32, i32) {
        self.cell([1e-5; 2], [0.5; 2])
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_point(Some(33.4), Some(-111.8), true)]
    #[case::half(Some(33.4), None, false)]
    #[case::zeros(Some(0.0), Some(0.0), false)]
    #[case::outside(Some(133.4), Some(-111.8), false)]
    #[case::no_number(Some(f64::NAN), Some(1.0), false)]
    #[case::infinite(Some(1.0), Some(f64::INFINITY), false)]
    fn a_point_is_on_earth(#[case] latitude: Option<f64>, #[case] longitude: Option<f64>, #[case] is_point: bool) {
        assert_eq!(Point::new(latitude, longitude).is_some(), is_point);
    }

    #[rstest]
    #[case::the_same(33.41, -111.83, 0.0)]
    #[case::north(34.41, -111.83, 69.09)]
    #[case::west(33.41, -112.83, 57.68)]
    fn a_distance_is_in_miles(#[case] latitude: f64, #[case] longitude: f64, #[case] miles: f64) {
        let from = Point { latitude: 33.41, longitude: -111.83 };
        assert!((from.miles_to(Point { latitude, longitude }) - miles).abs() < 0.05);
    }
}
