//! `thin`: a series of points in time, with no more points than a chart has room for.
//!
//! In: points in the order of their times. Out: some of them, the first and the last always. It must not know
//! the measured quantity.

/// Returns at most `most` of these points. Where there are more, points that repeat the one before them go first;
/// where changes alone are too many, evenly spaced ones stay.
pub fn thin<T>(points: Vec<T>, most: usize, is_same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    if points.len() <= most {
        return points;
    }
    every_so_many(changes(points, is_same), most)
}

/// The first point, each that differs from the one before it, and the last.
fn changes<T>(points: Vec<T>, is_same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let last = points.len().saturating_sub(1);
    let differs: Vec<bool> = points.windows(2).map(|pair| !is_same(&pair[0], &pair[1])).collect();
    let stays = |place: usize| place == 0 || place == last || differs[place - 1];
    points.into_iter().enumerate().filter(|(place, _)| stays(*place)).map(|(_, point)| point).collect()
}

/// `most` points in equal distances; of one, the last.
fn every_so_many<T>(points: Vec<T>, most: usize) -> Vec<T> {
    let last = points.len().saturating_sub(1);
    if points.len() <= most {
        return points;
    }
    let mut wanted = (0..most).map(|n| if most == 1 { last } else { n * last / (most - 1) }).peekable();
    let mut stays = |place: &usize| wanted.next_if_eq(place).is_some();
    points.into_iter().enumerate().filter(|(place, _)| stays(place)).map(|(_, point)| point).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Times and values.
    fn points(values: &[i32]) -> Vec<(usize, i32)> {
        values.iter().copied().enumerate().collect()
    }

    fn thinned(values: &[i32], most: usize) -> Vec<usize> {
        thin(points(values), most, |one, other| one.1 == other.1).into_iter().map(|(time, _)| time).collect()
    }

    #[rstest]
    #[case::none(&[], 3, &[])]
    #[case::all_fit(&[1, 1, 1], 3, &[0, 1, 2])]
    #[case::repetitions_go_first(&[1, 1, 1, 2, 2, 1, 1], 4, &[0, 3, 5, 6])]
    #[case::the_last_stays(&[1, 1, 1, 1], 3, &[0, 3])]
    #[case::too_many_changes(&[1, 2, 3, 4, 5], 3, &[0, 2, 4])]
    #[case::only_two(&[1, 2, 3, 4, 5], 2, &[0, 4])]
    #[case::only_one(&[1, 2, 3], 1, &[2])]
    #[case::no_room(&[1, 2], 0, &[])]
    fn a_series_is_thinned_from_what_says_least(
        #[case] values: &[i32],
        #[case] most: usize,
        #[case] expected: &[usize],
    ) {
        assert_eq!(thinned(values, most), expected);
    }

    proptest! {
        #[test]
        fn it_has_at_most_so_many_points_with_first_and_last(
            values in prop::collection::vec(0..3, 1..60),
            most in 2..20_usize,
        ) {
            let times = thinned(&values, most);
            prop_assert!(times.len() <= most);
            prop_assert!(times.is_sorted());
            prop_assert_eq!((times.first(), times.last()), (Some(&0), Some(&(values.len() - 1))));
        }

        #[test]
        fn no_change_is_lost_that_there_is_room_for(values in prop::collection::vec(0..2, 1..60), most in 2..40_usize) {
            let changes: Vec<usize> = (1..values.len()).filter(|&n| values[n] != values[n - 1]).collect();
            prop_assume!(changes.len() + 2 <= most);
            let times = thinned(&values, most);
            prop_assert!(changes.iter().all(|change| times.contains(change)));
        }
    }
}
