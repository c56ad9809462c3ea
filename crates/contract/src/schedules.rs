//! Schedules and their runs for display; the unchecked fields of `POST /api/schedules` and
//! `PUT /api/schedules/{id}`, and all their checks that need no database.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::checks::{BadField, bad, check_priority, present};
use super::task_requests::{check_payload, requested_role};
use domain::schedule::skipped::Skipped;
use domain::schedule::{CronLine, INTERVALS, Recurrence, RecurrenceColumns, RecurrenceError};
use domain::store;
use domain::store::Platform;
use domain::store::state_code::StateCode;
use domain::task::role::{RESYNC, Role, names_and_resync, names_and_resync_or_null};
use domain::vocabulary::Word;

const MAX_NAME_BYTES: usize = 80;
/// Number of due times beside the runs of a schedule, and in the schedule itself.
pub const MAX_UPCOMING: usize = 5;
pub const SHOWN_UPCOMING: usize = 3;

/// A schedule to be added: with `interval_hours` or `cron`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleRequest {
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// A role; `product_resync` means `payload_fetch`.
    #[schema(schema_with = names_and_resync)]
    pub role: String,
    #[serde(default)]
    #[schema(value_type = Option<Platform>)]
    pub platform: Option<String>,
    /// Only the stores of this state.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z]{2}$")]
    pub state_code: Option<StateCode>,
    /// Only the stores of this group; schedules of the role without a group then leave them out.
    #[serde(default)]
    pub group_name: Option<String>,
    #[serde(default)]
    #[schema(minimum = 0.001, maximum = 87600)]
    pub interval_hours: Option<f64>,
    /// Line as in crontab(5): five fields, or six with seconds first, such as `30 6 * * 1-5`.
    #[serde(default)]
    pub cron: Option<String>,
    /// The IANA name of the time zone whose clock `cron` is for; UTC by default.
    #[serde(default)]
    pub time_zone: Option<String>,
    #[serde(default)]
    #[schema(minimum = -1000, maximum = 1000)]
    pub priority: Option<i64>,
    #[serde(default)]
    pub enabled: Option<bool>,
    /// The arguments of its tasks.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub args: Value,
}

/// Changes of a schedule; absent fields keep their values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(min_properties = 1)]
pub struct ScheduleUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 80)]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = names_and_resync_or_null)]
    pub role: Option<String>,
    /// Null: every platform.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<Platform>)]
    pub platform: Option<Option<String>>,
    /// Null: every state.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z]{2}$")]
    pub state_code: Option<Option<StateCode>>,
    /// Null: every group.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>)]
    pub group_name: Option<Option<String>>,
    /// Interval in place of a `cron` line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.001, maximum = 87600)]
    pub interval_hours: Option<f64>,
    /// Line in place of `interval_hours`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// The zone whose clock the `cron` line is for. Null: UTC.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>)]
    pub time_zone: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = -1000, maximum = 1000)]
    pub priority: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub args: Option<Value>,
}

/// A schedule whose fields are each valid.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSchedule {
    pub name: String,
    pub scope: Scope,
    pub state_code: Option<StateCode>,
    pub priority: i32,
    pub enabled: bool,
    pub recurrence: Recurrence,
}

/// Scope of its tasks: these fields must agree with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    pub role: Role,
    pub platform: Option<Platform>,
    pub group_name: Option<String>,
    pub args: Value,
}

/// A change whose fields are each valid; None changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleChange {
    pub name: Option<String>,
    pub role: Option<Role>,
    pub platform: Option<Option<Platform>>,
    pub state_code: Option<Option<StateCode>>,
    pub group_name: Option<Option<String>>,
    pub args: Option<Value>,
    pub recurrence: Option<RecurrenceChange>,
    pub priority: Option<i32>,
    pub enabled: Option<bool>,
}

/// A change of a recurrence; a cron line and its time zone can change one without the other.
#[derive(Clone, Debug, PartialEq)]
pub enum RecurrenceChange {
    EveryHours(f64),
    Cron { line: Option<String>, time_zone: Option<Option<String>> },
}

/// A schedule as shown to users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Schedule {
    pub id: i64,
    pub name: String,
    #[schema(value_type = Role)]
    pub role: Word<Role>,
    /// The platform of the menus or, for a media job, of its account.
    #[schema(value_type = Option<String>)]
    pub platform: Option<Word<Platform>>,
    /// The account of its media jobs.
    pub account: Option<String>,
    pub state_code: Option<String>,
    pub group_name: Option<String>,
    /// The arguments of its tasks.
    #[schema(value_type = Object)]
    pub args: Value,
    pub enabled: bool,
    pub interval_hours: Option<f64>,
    pub cron: Option<String>,
    /// The zone whose clock the cron line is for; null is UTC.
    pub time_zone: Option<String>,
    pub priority: i32,
    pub last_run_at: Option<DateTime<Utc>>,
    pub next_run_at: Option<DateTime<Utc>>,
    pub last_task_count: Option<i32>,
    /// Stores for which the last run created no task, by reason.
    pub last_skipped: Skipped,
    /// Why the last run made no task, or came before its time.
    pub last_note: Option<String>,
    pub last_error: Option<String>,
    /// Each change by request increases it; a run does not.
    pub version: i64,
    /// The next 3 due times; none while it is disabled.
    #[serde(default)]
    pub upcoming: Vec<DateTime<Utc>>,
}

/// A schedule that was added or changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SavedSchedule {
    #[serde(flatten)]
    pub schedule: Schedule,
    /// Says that the schedule is due more often than the scheduler looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Tasks that one run of a schedule created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    pub schedule: String,
    pub due_at: DateTime<Utc>,
    pub tasks: i32,
    /// Stores for which it created no task, by reason.
    #[serde(default)]
    pub skipped: Skipped,
    /// Why it created no task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The same run was requested twice, or another process had already started it.
    pub already_made: bool,
    /// Why the schedule did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// A past run of a schedule, with the states of the tasks that it made. Tasks that follow from them are not counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PastRun {
    pub due_at: DateTime<Utc>,
    pub made_at: DateTime<Utc>,
    /// All tasks that it created; ended ones that retention has deleted are counted only here.
    pub tasks: i32,
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
    /// Pending, claimed and running.
    pub open: i64,
    /// Time when its latest ended task ended.
    pub last_end_at: Option<DateTime<Utc>>,
    /// Stores for which it created no task, by reason.
    pub skipped: Skipped,
    /// Why it created no task.
    pub note: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ScheduleRuns {
    /// The latest first. Runs are kept for 30 days.
    pub runs: Vec<PastRun>,
    /// The next 5 due times; none while it is disabled.
    pub upcoming: Vec<DateTime<Utc>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ScheduleList {
    pub schedules: Vec<Schedule>,
}

impl Schedule {
    pub fn recurrence(&self) -> Option<Recurrence> {
        Recurrence::of_columns(RecurrenceColumns {
            interval_hours: self.interval_hours,
            cron: self.cron.as_deref(),
            time_zone: self.time_zone.as_deref(),
        })
    }

    /// Its next due times; none while it is disabled.
    pub fn next_times(&self, count: usize) -> Vec<DateTime<Utc>> {
        match (self.next_run_at, self.recurrence()) {
            (Some(next), Some(recurrence)) if self.enabled => recurrence.times_from(next).take(count).collect(),
            _ => Vec::new(),
        }
    }
}

impl SavedSchedule {
    /// `tick`: the time from one look of the scheduler to the next.
    pub fn new(schedule: Schedule, tick: Duration) -> SavedSchedule {
        let upcoming = schedule.next_times(SHOWN_UPCOMING);
        let is_too_frequent = upcoming.windows(2).any(|pair| (pair[1] - pair[0]).to_std().is_ok_and(|gap| gap < tick));
        let notice = is_too_frequent.then(|| {
            format!("the scheduler looks every {tick:?} (queue.schedule_tick): this schedule is due more often, and runs once at each look")
        });
        SavedSchedule { schedule, notice }
    }
}

impl ScheduleRequest {
    /// Returns the first fault, or the schedule with its defaults.
    pub fn check(self) -> Result<NewSchedule, BadField> {
        let name = check_name(self.name)?;
        let role = role_of(&self.role)?;
        let args = if self.args.is_null() { json!({}) } else { self.args };
        let platform = self.platform.map(platform_of).transpose()?;
        let scope = Scope { role, platform, group_name: self.group_name.map(check_group).transpose()?, args };
        let scope = scope.check()?;
        let missing = || bad("interval_hours", "missing: give interval_hours or cron");
        Ok(NewSchedule {
            name,
            scope,
            state_code: self.state_code,
            priority: check_priority(self.priority)?.unwrap_or(role.schedule_priority()),
            enabled: self.enabled.unwrap_or(true),
            recurrence: recurrence_of(self.interval_hours, self.cron, self.time_zone)?.ok_or_else(missing)?,
        })
    }
}

impl ScheduleUpdate {
    /// Returns the first fault, or the change.
    pub fn check(self) -> Result<ScheduleChange, BadField> {
        if self == ScheduleUpdate::default() {
            return Err(bad("enabled", "missing: give at least one field to change"));
        }
        Ok(ScheduleChange {
            name: self.name.map(check_name).transpose()?,
            role: self.role.as_deref().map(role_of).transpose()?,
            platform: self.platform.map(|name| name.map(platform_of).transpose()).transpose()?,
            state_code: self.state_code,
            group_name: self.group_name.map(|name| name.map(check_group).transpose()).transpose()?,
            args: self.args,
            recurrence: recurrence_change(self.interval_hours, self.cron, self.time_zone)?,
            priority: check_priority(self.priority)?,
            enabled: self.enabled,
        })
    }
}

impl RecurrenceChange {
    /// The recurrence after the change. Returns the fault of a time zone without a cron line.
    pub fn after(&self, before: Option<Recurrence>) -> Result<Recurrence, BadField> {
        let (line, time_zone) = match self {
            RecurrenceChange::EveryHours(hours) => return Ok(Recurrence::EveryHours(*hours)),
            RecurrenceChange::Cron { line, time_zone } => (line.clone(), time_zone.clone()),
        };
        let (known_line, known_zone) = match before {
            Some(Recurrence::Cron(CronLine { line, time_zone })) => (Some(line), time_zone),
            _ => (None, None),
        };
        let line = line.or(known_line).ok_or_else(zone_of_interval)?;
        checked(CronLine { line, time_zone: time_zone.unwrap_or(known_zone) }).map(Recurrence::Cron)
    }
}

impl ScheduleChange {
    /// Whether it touches the fields of a [`Scope`].
    pub fn changes_scope(&self) -> bool {
        self.role.is_some() || self.platform.is_some() || self.group_name.is_some() || self.args.is_some()
    }
}

impl Scope {
    /// Returns the first fault, or the scope with its arguments in the form of tasks.
    pub fn check(self) -> Result<Scope, BadField> {
        let Scope { role, platform, group_name, args } = self;
        let args = check_payload(role, args).map_err(|bad| match bad.field {
            "payload" => BadField { field: "args", ..bad },
            _ => bad,
        })?;
        if group_name.is_some() && !role.per_store() {
            return Err(bad("group_name", format!("leave it out: {role} tasks have no store")));
        }
        if role == Role::StoreDiscovery && platform.is_none() {
            return Err(bad(
                "platform",
                format!("missing: a {role} schedule needs a platform, such as {}", Platform::DEFAULT),
            ));
        }
        Ok(Scope { role, platform, group_name, args })
    }
}

fn check_name(name: String) -> Result<String, BadField> {
    let name = name.trim();
    match (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.contains(char::is_control) {
        true => Ok(name.to_owned()),
        false => Err(bad("name", format!("a schedule's name has 1 to {MAX_NAME_BYTES} bytes in one line"))),
    }
}

fn role_of(name: &str) -> Result<Role, BadField> {
    let name = if name == RESYNC { Role::PayloadFetch.name() } else { name };
    requested_role(name)
}

fn platform_of(name: String) -> Result<Platform, BadField> {
    name.parse().map_err(|unknown| bad("platform", unknown))
}

fn check_group(name: String) -> Result<String, BadField> {
    store::group::name(&name).map_err(|fault| bad("group_name", fault))
}

fn recurrence_of(
    hours: Option<f64>,
    cron: Option<String>,
    time_zone: Option<String>,
) -> Result<Option<Recurrence>, BadField> {
    match (hours, cron) {
        (Some(_), Some(_)) => Err(both()),
        (_, None) if time_zone.is_some() => Err(zone_of_interval()),
        (Some(hours), None) => check_hours(hours).map(Recurrence::EveryHours).map(Some),
        (None, Some(line)) => checked(CronLine { line, time_zone }).map(Recurrence::Cron).map(Some),
        (None, None) => Ok(None),
    }
}

fn recurrence_change(
    hours: Option<f64>,
    cron: Option<String>,
    time_zone: Option<Option<String>>,
) -> Result<Option<RecurrenceChange>, BadField> {
    match (hours, cron, time_zone) {
        (Some(_), Some(_), _) => Err(both()),
        (Some(_), None, Some(Some(_))) => Err(zone_of_interval()),
        (Some(hours), None, _) => check_hours(hours).map(RecurrenceChange::EveryHours).map(Some),
        (None, None, None) => Ok(None),
        (None, line, time_zone) => {
            let read = |line: &String| checked(CronLine { line: line.clone(), time_zone: time_zone.clone().flatten() });
            line.as_ref().map(read).transpose()?;
            Ok(Some(RecurrenceChange::Cron { line, time_zone }))
        }
    }
}

fn both() -> BadField {
    bad("cron", "give either interval_hours or cron")
}

fn zone_of_interval() -> BadField {
    bad("time_zone", "leave it out, or give cron: an interval has no time zone")
}

fn check_hours(hours: f64) -> Result<f64, BadField> {
    let (least, most) = (INTERVALS.start(), INTERVALS.end());
    match INTERVALS.contains(&hours) {
        true => Ok(hours),
        false => Err(bad("interval_hours", format!("{hours} is out of range ({least} to {most})"))),
    }
}

fn checked(cron: CronLine) -> Result<CronLine, BadField> {
    match cron.check() {
        Ok(()) => Ok(cron),
        Err(fault @ RecurrenceError::TimeZone(_)) => Err(bad("time_zone", fault)),
        Err(fault) => Err(bad("cron", fault)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn check(body: Value) -> Result<NewSchedule, BadField> {
        serde_json::from_value::<ScheduleRequest>(body).unwrap().check()
    }

    fn update(body: Value) -> Result<ScheduleChange, BadField> {
        serde_json::from_value::<ScheduleUpdate>(body).unwrap().check()
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let new = check(json!({"name": " rivals ", "role": "product_resync", "interval_hours": 1})).unwrap();
        let scope = Scope { role: Role::PayloadFetch, platform: None, group_name: None, args: json!({}) };
        let expected = NewSchedule {
            name: "rivals".to_owned(),
            scope,
            state_code: None,
            priority: 0,
            enabled: true,
            recurrence: Recurrence::EveryHours(1.0),
        };
        assert_eq!(new, expected);
    }

    #[rstest]
    #[case::no_name(json!({"name": " ", "role": "payload_fetch", "interval_hours": 1}), "name")]
    #[case::two_lines(json!({"name": "a\nb", "role": "payload_fetch", "interval_hours": 1}), "name")]
    #[case::role(json!({"name": "a", "role": "payload_fetsch", "interval_hours": 1}), "role")]
    #[case::no_recurrence(json!({"name": "a", "role": "payload_fetch"}), "interval_hours")]
    #[case::both(json!({"name": "a", "role": "payload_fetch", "interval_hours": 1, "cron": "0 0 0 * * *"}), "cron")]
    #[case::never(json!({"name": "a", "role": "payload_fetch", "interval_hours": 0}), "interval_hours")]
    #[case::four_fields(json!({"name": "a", "role": "payload_fetch", "cron": "30 6 * *"}), "cron")]
    #[case::zone(json!({"name": "a", "role": "payload_fetch", "cron": "30 6 * * *", "time_zone": "Arizona"}), "time_zone")]
    #[case::zone_of_an_interval(json!({"name": "a", "role": "payload_fetch", "interval_hours": 1, "time_zone": "America/Phoenix"}), "time_zone")]
    #[case::no_platform(json!({"name": "a", "role": "store_discovery", "interval_hours": 1}), "platform")]
    #[case::a_group_of_no_stores(json!({"name": "a", "role": "analytics_refresh", "interval_hours": 1, "group_name": "rivals"}), "group_name")]
    #[case::a_group(json!({"name": "a", "role": "payload_fetch", "interval_hours": 1, "group_name": "a b"}), "group_name")]
    #[case::priority(json!({"name": "a", "role": "payload_fetch", "interval_hours": 1, "priority": 1001}), "priority")]
    #[case::args(json!({"name": "a", "role": "payload_fetch", "interval_hours": 1, "args": {"x": 1}}), "args")]
    fn what_is_wrong_with_a_new_schedule_is_named(#[case] body: Value, #[case] field: &str) {
        assert_eq!(check(body).unwrap_err().field, field);
    }

    #[test]
    fn null_takes_a_property_away_and_absence_leaves_it() {
        let change = update(json!({"group_name": null, "platform": "dutchie", "cron": null})).unwrap();
        assert_eq!((change.group_name, change.platform), (Some(None), Some(Some(Platform::Dutchie))));
        assert_eq!((change.state_code, change.recurrence), (None, None));
    }

    #[rstest]
    #[case::nothing(json!({}), "enabled")]
    #[case::both(json!({"interval_hours": 1, "cron": "0 0 0 * * *"}), "cron")]
    #[case::zone(json!({"cron": "0 6 * * *", "time_zone": "Arizona"}), "time_zone")]
    #[case::zone_of_an_interval(json!({"interval_hours": 1, "time_zone": "America/Phoenix"}), "time_zone")]
    #[case::role(json!({"role": "x"}), "role")]
    fn what_is_wrong_with_an_update_is_named(#[case] body: Value, #[case] field: &str) {
        assert_eq!(update(body).unwrap_err().field, field);
    }

    #[rstest]
    #[case::line(json!({"cron": "0 7 * * *"}), "0 7 * * *", Some("America/Phoenix"))]
    #[case::zone(json!({"time_zone": "Europe/Berlin"}), "0 6 * * 1", Some("Europe/Berlin"))]
    #[case::back_to_utc(json!({"time_zone": null}), "0 6 * * 1", None)]
    fn a_line_and_its_time_zone_change_one_without_the_other(
        #[case] body: Value,
        #[case] line: &str,
        #[case] zone: Option<&str>,
    ) {
        let before = CronLine { line: "0 6 * * 1".to_owned(), time_zone: Some("America/Phoenix".to_owned()) };
        let after = update(body).unwrap().recurrence.unwrap().after(Some(Recurrence::Cron(before))).unwrap();
        let expected = CronLine { line: line.to_owned(), time_zone: zone.map(str::to_owned) };
        assert_eq!(after, Recurrence::Cron(expected));
    }

    #[test]
    fn an_interval_gets_no_time_zone() {
        let change = update(json!({"time_zone": "America/Phoenix"})).unwrap().recurrence.unwrap();
        assert_eq!(change.after(Some(Recurrence::EveryHours(4.0))).unwrap_err().field, "time_zone");
    }
}
