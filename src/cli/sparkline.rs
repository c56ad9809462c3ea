//! A series as one short line of bars. In: counts. Out: a text that fits a column of a table.

/// Maximum bars: more would leave no room in a line of 80 characters.
const MAX_BARS: usize = 24;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const NOTHING: char = '·';

/// Draws a bar for each point, or for each group of points if there are many; the largest is full.
pub fn sparkline(points: &[i64]) -> String {
    let sums: Vec<i64> = points.chunks(points_of_a_bar(points.len())).map(|part| part.iter().sum()).collect();
    let largest = sums.iter().copied().max().unwrap_or_default();
    sums.into_iter().map(|sum| bar(sum, largest)).collect()
}

/// Number of points per bar.
pub fn points_of_a_bar(points: usize) -> usize {
    points.div_ceil(MAX_BARS).max(1)
}

fn bar(sum: i64, largest: i64) -> char {
    if sum <= 0 {
        return NOTHING;
    }
    let share = sum as f64 / largest as f64;
    let height = (share * BARS.len() as f64).ceil() as usize;
    BARS[height.clamp(1, BARS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing(&[], "")]
    #[case::zeros(&[0, 0], "··")]
    #[case::one(&[7], "█")]
    #[case::shares(&[0, 1, 4, 8], "·▁▄█")]
    #[case::little_is_not_nothing(&[1, 1_000_000], "▁█")]
    fn the_largest_point_is_full(#[case] points: &[i64], #[case] expected: &str) {
        assert_eq!(sparkline(points), expected);
    }

    #[test]
    fn many_points_share_bars() {
        let line = sparkline(&[1; 1000]);
        assert_eq!(line.chars().count(), 24);
        assert_eq!(points_of_a_bar(1000), 42);
        assert!(line.starts_with('█') && line.ends_with('▇'), "the last bar has 34 of 42: {line}");
    }
}
