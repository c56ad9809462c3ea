//! The parameters of a query: names, ranges and their refusals.

use crate::{BadParameter, Fit, Format, MAX_BLUR, MAX_TARGET_SIDE, MIN_BLUR, Transform};

/// The transform that the pairs ask for; with `format=auto` the transform's format is still open.
pub(crate) struct ParsedTransform {
    pub transform: Transform,
    pub is_auto: bool,
}

const NAMES: [&str; 9] = ["bg", "blur", "enlarge", "fit", "format", "gray", "h", "q", "w"];

pub(crate) fn parse<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<ParsedTransform, BadParameter> {
    let mut parsed = ParsedTransform { transform: Transform::default(), is_auto: false };
    let mut seen = Vec::new();
    for (name, value) in pairs {
        if seen.contains(&name) {
            return Err(bad(name, "may be given only once"));
        }
        seen.push(name);
        parsed.set(name, value)?;
    }
    Ok(parsed)
}

impl ParsedTransform {
    fn set(&mut self, name: &str, value: &str) -> Result<(), BadParameter> {
        let transform = &mut self.transform;
        match name {
            "w" => transform.width = Some(integer(name, value, MAX_TARGET_SIDE)?),
            "h" => transform.height = Some(integer(name, value, MAX_TARGET_SIDE)?),
            "q" => transform.quality = integer(name, value, 100)? as u8,
            "fit" => transform.fit = fit(name, value)?,
            "blur" => transform.blur = Some(sigma(name, value)?),
            "gray" => transform.gray = one(name, value)?,
            "enlarge" => transform.enlarge = one(name, value)?,
            "bg" => transform.background = Some(colour(name, value)?),
            "format" if value == "auto" => self.is_auto = true,
            "format" => transform.format = format(name, value)?,
            _ => return Err(bad(name, &format!("is unknown; the parameters are {}", NAMES.join(", ")))),
        }
        Ok(())
    }
}

fn integer(name: &str, value: &str, max: u32) -> Result<u32, BadParameter> {
    let is_plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.parse().ok().filter(|number| is_plain && (1..=max).contains(number));
    number.ok_or_else(|| bad(name, &format!("must be an integer from 1 to {max}, not {}", quoted(value))))
}

fn sigma(name: &str, value: &str) -> Result<f32, BadParameter> {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = value.parse().ok().filter(|number| is_plain && (MIN_BLUR..=MAX_BLUR).contains(number));
    number.ok_or_else(|| bad(name, &format!("must be a number from {MIN_BLUR} to {MAX_BLUR}, not {}", quoted(value))))
}

fn one(name: &str, value: &str) -> Result<bool, BadParameter> {
    if value == "1" { Ok(true) } else { Err(bad(name, &format!("must be 1 or absent, not {}", quoted(value)))) }
}

fn fit(name: &str, value: &str) -> Result<Fit, BadParameter> {
    let known = [Fit::Cover, Fit::Contain, Fit::Fill, Fit::Inside, Fit::Outside];
    let named = known.into_iter().find(|fit| fit.name() == value);
    named.ok_or_else(|| {
        bad(name, &format!("must be one of cover, contain, fill, inside, outside, not {}", quoted(value)))
    })
}

/// The values of `format`.
const FORMATS: &str = "webp, jpeg, png, auto";

fn format(name: &str, value: &str) -> Result<Format, BadParameter> {
    if value == Format::Avif.name() {
        let why = "AVIF is not written, since it takes 25 to 50 times as long as WebP";
        return Err(bad(name, &format!("must be one of {FORMATS}: {why}")));
    }
    let known = [Format::WebP, Format::Jpeg, Format::Png];
    let named = known.into_iter().find(|format| format.name() == value);
    named.ok_or_else(|| bad(name, &format!("must be one of {FORMATS}, not {}", quoted(value))))
}

fn colour(name: &str, value: &str) -> Result<[u8; 4], BadParameter> {
    let refusal = || bad(name, &format!("must be RRGGBB or RRGGBBAA in hexadecimal digits, not {}", quoted(value)));
    if !value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(refusal());
    }
    let number = u32::from_str_radix(value, 16).map_err(|_| refusal())?;
    match value.len() {
        6 => Ok((number << 8 | 0xFF).to_be_bytes()),
        8 => Ok(number.to_be_bytes()),
        _ => Err(refusal()),
    }
}

/// Maximum number of characters of a refused value that its message repeats.
const MAX_QUOTED: usize = 40;

fn quoted(value: &str) -> String {
    let shown: String = value.chars().take(MAX_QUOTED).collect();
    if shown.len() < value.len() { format!("'{shown}…'") } else { format!("'{shown}'") }
}

fn bad(name: &str, message: &str) -> BadParameter {
    let name = name.chars().take(MAX_QUOTED).collect();
    BadParameter { name, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::Request;

    fn pairs(query: &str) -> Vec<(&str, &str)> {
        query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .collect()
    }

    fn request(query: &str) -> Result<Request, BadParameter> {
        Transform::parse(pairs(query), Some("image/webp"))
    }

    #[rstest]
    #[case::zero("w=0", "w must be an integer from 1 to 4000, not '0'")]
    #[case::too_wide("w=4001", "w must be an integer from 1 to 4000, not '4001'")]
    #[case::a_sign("h=+5", "h must be an integer from 1 to 4000, not '+5'")]
    #[case::nothing("h=", "h must be an integer from 1 to 4000, not ''")]
    #[case::beyond_any_integer("h=99999999999", "h must be an integer from 1 to 4000, not '99999999999'")]
    #[case::quality("q=101", "q must be an integer from 1 to 100, not '101'")]
    #[case::fit("fit=stretch", "fit must be one of cover, contain, fill, inside, outside, not 'stretch'")]
    #[case::a_weak_blur("blur=0.2", "blur must be a number from 0.3 to 1000, not '0.2'")]
    #[case::no_number("blur=NaN", "blur must be a number from 0.3 to 1000, not 'NaN'")]
    #[case::an_exponent("blur=1e2", "blur must be a number from 0.3 to 1000, not '1e2'")]
    #[case::gray("gray=0", "gray must be 1 or absent, not '0'")]
    #[case::enlarge("enlarge=true", "enlarge must be 1 or absent, not 'true'")]
    #[case::a_short_colour("bg=fff", "bg must be RRGGBB or RRGGBBAA in hexadecimal digits, not 'fff'")]
    #[case::a_signed_colour("bg=+fffff", "bg must be RRGGBB or RRGGBBAA in hexadecimal digits, not '+fffff'")]
    #[case::a_colour_name("bg=orange", "bg must be RRGGBB or RRGGBBAA in hexadecimal digits, not 'orange'")]
    #[case::repeated("w=5&w=5", "w may be given only once")]
    #[case::unknown("width=5", "width is unknown; the parameters are bg, blur, enlarge, fit, format, gray, h, q, w")]
    fn a_bad_parameter_is_named_with_its_range(#[case] query: &str, #[case] message: &str) {
        assert_eq!(request(query).unwrap_err().to_string(), message);
    }

    #[test]
    fn an_unknown_format_is_refused_with_those_that_are_known() {
        let message = request("format=gif").unwrap_err().to_string();
        assert_eq!(message, format!("format must be one of {FORMATS}, not 'gif'"));
    }

    #[test]
    fn avif_is_refused_with_the_reason() {
        assert!(request("format=avif").unwrap_err().message.contains("AVIF is not written"));
    }

    #[test]
    fn every_parameter_is_read() {
        let request = request("w=1&h=4000&q=100&fit=cover&blur=0.3&gray=1&enlarge=1&bg=010203&format=jpeg").unwrap();
        let expected = Transform {
            width: Some(1),
            height: Some(4000),
            quality: 100,
            fit: Fit::Cover,
            blur: Some(0.3),
            gray: true,
            format: Format::Jpeg,
            background: Some([1, 2, 3, 255]),
            enlarge: true,
        };
        assert_eq!(request, Request { transform: expected, varies_by_accept: false });
    }

    #[test]
    fn auto_depends_on_what_is_accepted() {
        let request = request("format=auto").unwrap();
        assert_eq!((request.transform.format, request.varies_by_accept), (Format::WebP, true));
    }

    #[rstest]
    #[case::nothing("", "")]
    #[case::defaults("q=80&fit=inside&format=webp", "")]
    #[case::sorted("w=200&h=100&fit=cover&q=60", "fit=cover&h=100&q=60&w=200")]
    #[case::zeros_before_a_number("w=0200", "w=200")]
    #[case::a_fit_without_two_sides("w=200&fit=cover", "w=200")]
    #[case::a_fill_by_one_side("w=200&fit=fill", "fit=fill&w=200")]
    #[case::quality_of_png("format=png&q=60", "format=png")]
    #[case::a_background_that_hides("w=200&bg=ff0000", "w=200")]
    #[case::a_background_that_shows("w=2&h=2&fit=contain&bg=FF0000", "bg=ff0000ff&fit=contain&h=2&w=2")]
    #[case::white_in_jpeg("format=jpeg&bg=ffffff", "format=jpeg")]
    #[case::growth_of_nothing("enlarge=1", "")]
    #[case::one_number_in_two_spellings("blur=2.50", "blur=2.5")]
    fn equal_results_have_equal_keys(#[case] query: &str, #[case] key: &str) {
        assert_eq!(request(query).unwrap().transform.key(), key);
    }

    #[test]
    fn white_padding_differs_from_clear_padding_in_webp() {
        let white = request("w=2&h=2&fit=contain&bg=ffffff").unwrap().transform.key();
        assert_eq!(white, "bg=ffffffff&fit=contain&h=2&w=2");
    }

    proptest! {
        #[test]
        fn a_key_is_a_query_for_the_same_key(
            width in proptest::option::of(1u32..=4000), height in proptest::option::of(1u32..=4000), quality in 1u8..=100,
            sigma in proptest::option::of(0.3f32..=1000.0), background in proptest::option::of(any::<[u8; 4]>()),
            gray: bool, enlarge: bool,
            fit in prop_oneof![Just(Fit::Cover), Just(Fit::Contain), Just(Fit::Fill), Just(Fit::Inside)],
            format in prop_oneof![Just(Format::WebP), Just(Format::Jpeg), Just(Format::Png)],
        ) {
            let transform = Transform { width, height, quality, fit, blur: sigma, gray, format, background, enlarge };
            let key = transform.key();
            prop_assert_eq!(request(&key).unwrap().transform.key(), key);
        }

        #[test]
        fn no_query_panics(name in "\\PC{0,8}|w|h|q|bg|blur|fit|format", value in "\\PC{0,60}") {
            let _ = Transform::parse([(name.as_str(), value.as_str())], Some(&value));
        }
    }
}
