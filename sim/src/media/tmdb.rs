//! TMDb's combined credits of a person, for clients that have a key.

use chrono::NaiveDate;
use http::StatusCode;
use serde_json::{Value, json};

use super::answer::{Answer, Request, bearer, json_of, parameter};
use super::oracle::{Credit, Person};
use super::plan::PersonPlan;
use super::world::World;
use crate::draw::{Draw, Topic};
use crate::words;

const CAST: u64 = 1;
const CREW: u64 = 2;
const JOBS: [(&str, &str); 3] = [("Writing", "Writer"), ("Directing", "Director"), ("Sound", "Foley Artist")];

pub(super) fn person(seed: u64, plan: &PersonPlan) -> Person {
    let credits = |list, count: usize| (0..count).map(|number| credit(seed, plan.id, list, number as u64)).collect();
    Person { id: plan.id, cast: credits(CAST, plan.cast), crew: credits(CREW, plan.crew) }
}

fn credit(seed: u64, person: i64, list: u64, number: u64) -> Credit {
    let mut draw = Draw::of(seed, Topic::Credit, &[person.unsigned_abs(), list, number]);
    let media_type = *draw.pick(&["movie", "tv"]);
    let (department, job) = *draw.pick(&JOBS);
    let (is_cast, is_unnamed, is_undated) = (list == CAST, draw.percent(20), draw.percent(20));
    let released_on = NaiveDate::from_ymd_opt(
        draw.between(1980, 2025) as i32,
        draw.between(1, 12) as u32,
        draw.between(1, 28) as u32,
    );
    Credit {
        credit_id: draw.object_id(),
        tmdb_id: draw.between(1_000, 999_999) as i64,
        media_type,
        title: format!("{}: {}", words::company(&mut draw), words::strain(&mut draw)),
        character: (is_cast && !is_unnamed).then(|| words::company(&mut draw)),
        department: (!is_cast).then(|| department.to_owned()),
        job: (!is_cast).then(|| job.to_owned()),
        episode_count: (media_type == "tv").then(|| draw.between(1, 40) as i32),
        released_on: released_on.filter(|_| !is_undated),
    }
}

/// `/3/person/{id}/combined_credits`
pub(super) fn respond(world: &World, request: &Request, id: &str) -> Answer {
    let key = world.plan.tmdb_key.as_str();
    let is_known = bearer(request) == Some(key) || parameter(request, "api_key").is_some_and(|given| given == key);
    if !is_known {
        return refused(StatusCode::UNAUTHORIZED, 7, "Invalid API key: You must be granted a valid key.");
    }
    let id: Option<i64> = id.parse().ok();
    let inventory = world.inventory();
    match inventory.people.iter().find(|person| Some(person.id) == id) {
        Some(person) => {
            let all = |list: &[Credit]| list.iter().map(row).collect::<Vec<_>>();
            json_of(StatusCode::OK, &json!({"id": person.id, "cast": all(&person.cast), "crew": all(&person.crew)}))
        }
        None => refused(StatusCode::NOT_FOUND, 34, "The resource you requested could not be found."),
    }
}

fn refused(status: StatusCode, code: u32, message: &str) -> Answer {
    json_of(status, &json!({"success": false, "status_code": code, "status_message": message}))
}

/// An unknown date or character is an empty text, as there.
fn row(credit: &Credit) -> Value {
    let date = credit.released_on.map(|date| date.to_string()).unwrap_or_default();
    let (title_field, date_field) = match credit.media_type {
        "tv" => ("name", "first_air_date"),
        _ => ("title", "release_date"),
    };
    let mut row = json!({
        "credit_id": credit.credit_id,
        "id": credit.tmdb_id,
        "media_type": credit.media_type,
        title_field: credit.title,
        date_field: date,
    });
    match (&credit.department, &credit.job) {
        (Some(department), Some(job)) => {
            row["department"] = json!(department);
            row["job"] = json!(job);
        }
        _ => row["character"] = json!(credit.character.clone().unwrap_or_default()),
    }
    if let Some(count) = credit.episode_count {
        row["episode_count"] = json!(count);
    }
    row
}
