//! `format=auto`: the best format that an `Accept` header allows.
//!
//! WebP counts only where the header names it: `image/*` and `*/*` are sent by clients that cannot show it. All others get
//! JPEG.

use crate::Format;

pub(crate) fn best_format(accept: &str) -> Format {
    if names(accept, Format::WebP.content_type()) { Format::WebP } else { Format::Jpeg }
}

/// Whether the header has the type with a weight above zero.
fn names(accept: &str, content_type: &str) -> bool {
    accept.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(content_type));
        is_named && !parts.any(is_zero_weight)
    })
}

fn is_zero_weight(parameter: &str) -> bool {
    let weight = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
    weight.and_then(|weight| weight.parse::<f32>().ok()) == Some(0.0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::absent("", Format::Jpeg)]
    #[case::anything("*/*", Format::Jpeg)]
    #[case::any_image("image/*,*/*;q=0.8", Format::Jpeg)]
    #[case::named("image/png, image/webp;q=0.5, */*", Format::WebP)]
    #[case::in_capitals("IMAGE/WEBP", Format::WebP)]
    #[case::beside_avif("image/avif,image/webp,*/*", Format::WebP)]
    #[case::refused("image/webp;q=0, */*", Format::Jpeg)]
    #[case::refused_with_decimals("image/webp; q=0.000", Format::Jpeg)]
    #[case::another_parameter("image/webp;v=2;q=0.1", Format::WebP)]
    #[case::a_longer_name("image/webp2", Format::Jpeg)]
    fn the_best_named_format_is_chosen(#[case] accept: &str, #[case] expected: Format) {
        assert_eq!(best_format(accept), expected);
    }
}
