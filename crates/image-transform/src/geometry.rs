//! Sizes: from a picture's size and the words of a query to what is resized, cropped and padded.
//!
//! The rules are those of sharp (`resize` with `withoutEnlargement` unless `enlarge` is set), halves rounded up.

use crate::{Fit, ImageError, Transform, limits};

/// A size in pixels.
pub(crate) type Size = (u32, u32);

/// The steps that change a picture's size, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// The size of the whole picture after the resize.
    pub scaled: Size,
    /// The size of what is cut out of its centre.
    pub cropped: Size,
    /// The size of the canvas that has it at its centre.
    pub canvas: Size,
}

impl Geometry {
    /// # Errors
    /// A result that is larger than any image may be.
    pub fn new(source: Size, transform: &Transform) -> Result<Geometry, ImageError> {
        let (horizontal, vertical) = shrink(source, transform);
        let scaled = (scaled(source.0, horizontal), scaled(source.1, vertical));
        let (cropped, canvas) = match (transform.width, transform.height) {
            (Some(width), Some(height)) if transform.fit == Fit::Cover => {
                let cropped = (scaled.0.min(width), scaled.1.min(height));
                (cropped, cropped)
            }
            (Some(width), Some(height)) if transform.fit == Fit::Contain => {
                (scaled, (scaled.0.max(width), scaled.1.max(height)))
            }
            _ => (scaled, scaled),
        };
        limits::check_size(scaled.0, scaled.1)?;
        limits::check_size(canvas.0, canvas.1)?;
        Ok(Geometry { scaled, cropped, canvas })
    }

    /// Position of the cut in the scaled picture.
    pub fn crop_offset(&self) -> (u32, u32) {
        let offset = |whole: u32, part: u32| (whole - part).div_ceil(2);
        (offset(self.scaled.0, self.cropped.0), offset(self.scaled.1, self.cropped.1))
    }

    /// Position of the picture on its canvas.
    pub fn canvas_offset(&self) -> (u32, u32) {
        ((self.canvas.0 - self.cropped.0) / 2, (self.canvas.1 - self.cropped.1) / 2)
    }

    pub fn is_cropped(&self) -> bool {
        self.scaled != self.cropped
    }

    pub fn is_padded(&self) -> bool {
        self.canvas != self.cropped
    }
}

/// Factors by which both sides shrink.
fn shrink((width, height): Size, transform: &Transform) -> (f64, f64) {
    let ratio = |side: u32, target: u32| f64::from(side) / f64::from(target);
    let (horizontal, vertical) = match (transform.width, transform.height) {
        (None, None) => (1.0, 1.0),
        (Some(target), None) if transform.fit == Fit::Fill => (ratio(width, target), 1.0),
        (None, Some(target)) if transform.fit == Fit::Fill => (1.0, ratio(height, target)),
        (Some(target), None) => (ratio(width, target), ratio(width, target)),
        (None, Some(target)) => (ratio(height, target), ratio(height, target)),
        (Some(target_width), Some(target_height)) => {
            let (horizontal, vertical) = (ratio(width, target_width), ratio(height, target_height));
            match transform.fit {
                Fit::Fill => (horizontal, vertical),
                Fit::Cover | Fit::Outside => (horizontal.min(vertical), horizontal.min(vertical)),
                Fit::Contain | Fit::Inside => (horizontal.max(vertical), horizontal.max(vertical)),
            }
        }
    };
    let least = if transform.enlarge { 0.0 } else { 1.0 };
    // no side vanishes
    (horizontal.max(least).min(width.into()), vertical.max(least).min(height.into()))
}

fn scaled(side: u32, shrink: f64) -> u32 {
    ((f64::from(side) * (1.0 / shrink) + 0.5) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn transform(width: u32, height: u32, fit: Fit, enlarge: bool) -> Transform {
        let side = |value: u32| Some(value).filter(|value| *value > 0);
        Transform { width: side(width), height: side(height), fit, enlarge, ..Transform::default() }
    }

    #[rstest]
    #[case::nothing_asked((300, 200), (0, 0), Fit::Inside, false, (300, 200))]
    #[case::width_alone((300, 200), (150, 0), Fit::Inside, false, (150, 100))]
    #[case::height_alone((300, 200), (0, 50), Fit::Inside, false, (75, 50))]
    #[case::halves_round_up((1000, 333), (500, 0), Fit::Inside, false, (500, 167))]
    #[case::inside((300, 200), (100, 100), Fit::Inside, false, (100, 67))]
    #[case::outside((300, 200), (100, 100), Fit::Outside, false, (150, 100))]
    #[case::cover((300, 200), (100, 100), Fit::Cover, false, (100, 100))]
    #[case::contain((300, 200), (100, 100), Fit::Contain, false, (100, 100))]
    #[case::fill((300, 200), (10, 150), Fit::Fill, false, (10, 150))]
    #[case::fill_by_width_keeps_the_height((60, 80), (30, 0), Fit::Fill, false, (30, 80))]
    #[case::fill_by_height_keeps_the_width((60, 80), (0, 100), Fit::Fill, true, (60, 100))]
    #[case::no_growth((300, 200), (600, 0), Fit::Inside, false, (300, 200))]
    #[case::growth((300, 200), (600, 0), Fit::Inside, true, (600, 400))]
    #[case::cover_without_growth_crops_what_it_can((100, 50), (200, 40), Fit::Cover, false, (100, 40))]
    #[case::contain_without_growth_pads((100, 50), (200, 100), Fit::Contain, false, (200, 100))]
    #[case::fill_without_growth_shrinks_one_side((100, 50), (200, 25), Fit::Fill, false, (100, 25))]
    #[case::no_side_vanishes((4000, 3), (10, 0), Fit::Inside, false, (10, 1))]
    fn the_size_follows_the_words(
        #[case] source: Size,
        #[case] (width, height): Size,
        #[case] fit: Fit,
        #[case] enlarge: bool,
        #[case] expected: Size,
    ) {
        assert_eq!(Geometry::new(source, &transform(width, height, fit, enlarge)).unwrap().canvas, expected);
    }

    #[test]
    fn a_result_beyond_the_limits_is_refused() {
        let error = Geometry::new((2, 3000), &transform(4000, 0, Fit::Inside, true)).unwrap_err();
        assert_eq!(error.reason(), "too_large");
    }

    #[test]
    fn the_cut_and_the_picture_lie_in_the_centre() {
        let cover = Geometry::new((300, 200), &transform(100, 101, Fit::Cover, false)).unwrap();
        assert_eq!((cover.scaled, cover.crop_offset()), ((152, 101), (26, 0)));
        let contain = Geometry::new((300, 200), &transform(100, 100, Fit::Contain, false)).unwrap();
        assert_eq!((contain.scaled, contain.canvas_offset()), ((100, 67), (0, 16)));
    }

    fn fits() -> impl Strategy<Value = Fit> {
        prop_oneof![Just(Fit::Cover), Just(Fit::Contain), Just(Fit::Fill), Just(Fit::Inside), Just(Fit::Outside)]
    }

    proptest! {
        #[test]
        fn nothing_grows_unasked(
            source in (1u32..3000, 1u32..3000), target in (0u32..4001, 0u32..4001), fit in fits(),
        ) {
            let geometry = Geometry::new(source, &transform(target.0, target.1, fit, false)).unwrap();
            prop_assert!(geometry.scaled.0 <= source.0 && geometry.scaled.1 <= source.1);
            prop_assert!(geometry.cropped.0 >= 1 && geometry.cropped.1 >= 1);
        }

        #[test]
        fn inside_stays_inside(source in (1u32..3000, 1u32..3000), target in (1u32..4001, 1u32..4001)) {
            let geometry = Geometry::new(source, &transform(target.0, target.1, Fit::Inside, false)).unwrap();
            prop_assert!(geometry.canvas.0 <= target.0 && geometry.canvas.1 <= target.1);
        }

        #[test]
        fn cover_and_contain_give_the_size_asked_for(
            source in (1u32..3000, 1u32..3000), target in (1u32..2001, 1u32..2001),
        ) {
            for fit in [Fit::Cover, Fit::Contain] {
                let Ok(geometry) = Geometry::new(source, &transform(target.0, target.1, fit, true)) else { continue };
                prop_assert_eq!(geometry.canvas, target);
            }
        }
    }
}
