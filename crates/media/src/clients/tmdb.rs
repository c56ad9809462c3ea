//! TMDb's combined credits of a person: films and series, in front of the camera and behind it.

use std::time::Duration;

use chrono::{Datelike, NaiveDate};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{MAX_ID, Odd, ReadError, Readable, below, element, is_usual, json, name, named};
use domain::media::appearance::{Appearance, ProductionKind};
use foundation::text::bounded;

/// The service permits about forty requests a second; we send four.
pub const MIN_INTERVAL: Duration = Duration::from_millis(250);

/// How a key is sent: the older form of 32 hex digits is a parameter, the token a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    ApiKey,
    Bearer,
}

impl KeyKind {
    pub fn of(key: &str) -> Self {
        let is_hex = key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex { KeyKind::ApiKey } else { KeyKind::Bearer }
    }
}

pub fn credits_url(base: &Url, person: i64) -> Url {
    below(base, &["3", "person", &person.to_string(), "combined_credits"])
}

/// The credits of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonCredits {
    pub appearances: Readable<Appearance>,
    /// Ids of listed credits that could not be read as appearances: they are not gone.
    pub unread: Vec<String>,
    /// A credit that cannot be read has no id, either, or a list is missing: it is unknown which ones are gone.
    pub has_nameless: bool,
}

/// All appearances; one of a kind that is neither a film nor a series is left out.
pub fn read(body: &[u8]) -> Result<PersonCredits, ReadError> {
    let Credits { cast, crew } = json(body)?;
    if cast.is_none() && crew.is_none() {
        return Err(ReadError::strange("cast and crew", "are missing"));
    }
    let (mut unread, mut has_nameless) = (Vec::new(), cast.is_none() || crew.is_none());
    let appearances = Readable::of(cast.iter().chain(&crew).flatten(), |value, odd| {
        let read = appearance(value, odd);
        if !matches!(read, Ok(Some(_))) {
            match value["credit_id"].as_str() {
                Some(id) => unread.push(bounded(id, MAX_ID)),
                None => has_nameless = true,
            }
        }
        read
    })?;
    Ok(PersonCredits { appearances, unread, has_nameless })
}

#[derive(Deserialize)]
struct Credits {
    cast: Option<Vec<Value>>,
    crew: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Credit {
    credit_id: String,
    id: i64,
    media_type: String,
    title: Option<String>,
    name: Option<String>,
    character: Option<String>,
    department: Option<String>,
    job: Option<String>,
    release_date: Option<String>,
    first_air_date: Option<String>,
    episode_count: Option<Value>,
}

fn appearance(value: &Value, odd: &mut Odd) -> Result<Option<Appearance>, ReadError> {
    let credit: Credit = element(value, &named("credit", value, "credit_id"))?;
    let media_type = match credit.media_type.trim().to_ascii_lowercase().as_str() {
        "movie" => ProductionKind::Movie,
        "tv" => ProductionKind::Tv,
        _ => return Ok(None),
    };
    let field = |name: &str| format!("{name} of credit {}", bounded(&credit.credit_id, MAX_ID));
    let title = present(credit.title).or_else(|| present(credit.name));
    let title = title.ok_or_else(|| ReadError::strange(field("title"), "is missing"))?;
    let date = present(credit.release_date).or_else(|| present(credit.first_air_date));
    let released_on = date.and_then(|date| {
        let parsed = date.parse().map_err(|error| ReadError::strange(field("date"), format!("{date:?}: {error}")));
        // the credit is more than its date
        parsed.inspect_err(|fault| odd.note(fault)).ok()
    });
    Ok(Some(Appearance {
        media_type,
        tmdb_id: credit.id,
        title,
        character: present(credit.character),
        department: present(credit.department),
        job: present(credit.job),
        episode_count: credit
            .episode_count
            .as_ref()
            .and_then(Value::as_i64)
            .and_then(|count| i32::try_from(count).ok()),
        released_on: released_on.filter(|date: &NaiveDate| is_usual(date.year())),
        credit_id: bounded(&credit.credit_id, MAX_ID),
    }))
}

/// TMDb writes an empty text where it knows nothing.
fn present(text: Option<String>) -> Option<String> {
    text.map(|text| name(&text)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[test]
    fn cast_and_crew_of_films_and_series_are_read() {
        let body = json!({
            "id": 9,
            "cast": [
                {"credit_id": "c1", "id": 11, "media_type": "movie", "title": "Dusk", "character": "Ann", "release_date": "2026-03-01"},
                {"credit_id": "c2", "id": 12, "media_type": "tv", "name": "Dawn", "character": "", "first_air_date": "", "episode_count": 8},
                {"credit_id": "c3", "id": 13, "media_type": "person", "name": "x"},
            ],
            "crew": [{"credit_id": "c4", "id": 11, "media_type": "movie", "title": "Dusk", "department": "Writing", "job": "Writer", "release_date": null}],
        });
        let read = read(body.to_string().as_bytes()).unwrap().appearances.elements;
        let rows: Vec<_> =
            read.iter().map(|each| (each.credit_id.as_str(), each.title.as_str(), each.media_type)).collect();
        assert_eq!(
            rows,
            [
                ("c1", "Dusk", ProductionKind::Movie),
                ("c2", "Dawn", ProductionKind::Tv),
                ("c4", "Dusk", ProductionKind::Movie)
            ]
        );
        assert_eq!(read[0].released_on, NaiveDate::from_ymd_opt(2026, 3, 1));
        assert_eq!((read[1].released_on, read[1].character.as_deref(), read[1].episode_count), (None, None, Some(8)));
        assert_eq!((read[2].department.as_deref(), read[2].job.as_deref()), (Some("Writing"), Some("Writer")));
    }

    #[test]
    fn values_that_no_database_keeps_are_cut_or_left_out() {
        let id = format!("c\0{}", "x".repeat(1_000));
        let credit =
            json!({"credit_id": id, "id": 1, "media_type": "movie", "title": "A\0B", "release_date": "0000-01-01"});
        let body = json!({"cast": [credit], "crew": []});
        let read = read(body.to_string().as_bytes()).unwrap().appearances.elements;
        assert_eq!((read[0].credit_id.len(), read[0].title.as_str(), read[0].released_on), (MAX_ID, "AB", None));
    }

    #[rstest]
    #[case::an_error(json!({"success": false, "status_code": 7}), "cast and crew are missing")]
    #[case::nothing(json!({"cast": null, "crew": null}), "cast and crew are missing")]
    #[case::no_title(json!({"cast": [{"credit_id": "c", "id": 1, "media_type": "tv"}], "crew": []}), "title of credit c is missing")]
    #[case::no_list(json!({"cast": {}, "crew": []}), "a field")]
    #[case::no_ids(json!({"cast": [{"credit_id": "c"}, null], "crew": [7]}), "missing field `id`")]
    fn a_new_shape_is_named(#[case] body: Value, #[case] says: &str) {
        let error = read(body.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    /// A credit with these fields in place of its own.
    fn changed(changes: Value) -> Value {
        let mut credit =
            json!({"credit_id": "c2", "id": 1, "media_type": "tv", "name": "x", "first_air_date": "2026-03-01"});
        for (name, value) in changes.as_object().unwrap() {
            credit[name] = value.clone();
        }
        credit
    }

    #[rstest]
    #[case::usual("tv", true)]
    #[case::another_case("TV", true)]
    #[case::blanks(" tv ", true)]
    #[case::another_kind("person", false)]
    fn a_credit_is_an_appearance_by_its_kind_or_is_at_least_not_gone(#[case] kind: &str, #[case] is_one: bool) {
        let body = json!({"cast": [changed(json!({"media_type": kind}))], "crew": []});
        let PersonCredits { appearances, unread, has_nameless } = read(body.to_string().as_bytes()).unwrap();
        assert_eq!((appearances.elements.len(), appearances.odd.count, has_nameless), (usize::from(is_one), 0, false));
        assert_eq!(unread.is_empty(), is_one);
    }

    #[rstest]
    #[case::no_date(changed(json!({"first_air_date": "0000-00-00"})), true, "date of credit c2")]
    #[case::another_date(changed(json!({"first_air_date": "soon"})), true, "date of credit c2 \"soon\"")]
    #[case::a_date_that_is_a_number(changed(json!({"first_air_date": 20_260_301})), false, "credit \"c2\"")]
    #[case::no_title(changed(json!({"name": null})), false, "title of credit c2")]
    #[case::a_title_that_is_a_number(changed(json!({"name": 7})), false, "credit \"c2\"")]
    #[case::an_id_that_is_a_text(changed(json!({"id": "1"})), false, "credit \"c2\"")]
    #[case::a_huge_id(changed(json!({"id": 1e30})), false, "credit \"c2\"")]
    #[case::no_kind(changed(json!({"media_type": null})), false, "credit \"c2\"")]
    fn an_odd_credit_costs_itself_alone(#[case] odd: Value, #[case] is_kept: bool, #[case] name: &str) {
        let usual = |id: &str| changed(json!({"credit_id": id}));
        let body = json!({"cast": [usual("c1"), odd], "crew": [usual("c3")]});
        let read = read(body.to_string().as_bytes()).unwrap();
        assert_eq!((read.appearances.elements.len(), read.appearances.odd.count), (2 + usize::from(is_kept), 1));
        assert!(read.appearances.odd.names[0].contains(name), "{:?}", read.appearances.odd.names);
        let unread = if is_kept { vec![] } else { vec!["c2".to_owned()] };
        assert_eq!((read.unread, read.has_nameless), (unread, false));
    }

    #[rstest]
    #[case::no_id(changed(json!({"credit_id": null})))]
    #[case::nothing(Value::Null)]
    #[case::a_list(json!([1]))]
    fn an_odd_credit_without_an_id_is_known_to_be_there(#[case] odd: Value) {
        let body = json!({"cast": [changed(json!({})), odd], "crew": []});
        let read = read(body.to_string().as_bytes()).unwrap();
        assert_eq!((read.appearances.elements.len(), read.has_nameless), (1, true));
    }

    #[rstest]
    #[case::nothing(json!({"cast": [changed(json!({}))], "crew": null}))]
    #[case::no_field(json!({"crew": [changed(json!({}))]}))]
    fn a_list_that_is_missing_costs_the_other_nothing_and_says_of_no_credit_that_it_is_gone(#[case] body: Value) {
        let read = read(body.to_string().as_bytes()).unwrap();
        assert_eq!((read.appearances.elements.len(), read.has_nameless), (1, true));
    }

    #[rstest]
    #[case("0123456789abcdefABCDEF0123456789", KeyKind::ApiKey)]
    #[case("0123456789abcdef", KeyKind::Bearer)]
    #[case("eyJhbGciOiJIUzI1NiJ9.x.y0123456789", KeyKind::Bearer)]
    fn a_key_says_how_it_is_sent(#[case] key: &str, #[case] kind: KeyKind) {
        assert_eq!(KeyKind::of(key), kind);
    }

    #[test]
    fn the_address_keeps_the_path_of_its_base() {
        let url = credits_url(&"http://127.0.0.1:9/tmdb/".parse().unwrap(), 42);
        assert_eq!(url.as_str(), "http://127.0.0.1:9/tmdb/3/person/42/combined_credits");
    }
}
