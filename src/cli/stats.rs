//! `drover stats`: prints counts of runs and requests, one line per series.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::sparkline::{points_of_a_bar, sparkline};
use super::{Env, ExitCode, bytes, time, values, with_query};
use contract::charts::{Dimension, MAX_SERIES, Metric, SecondsByPoint, Series, StatsSeries, Values};
use settings::durations;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Metric: tasks, waits, runs, products, requests, blocks, unanswered or bytes
    #[arg(default_value = "tasks", value_parser = values::word::<Metric>)]
    metric: Metric,
    /// Group by role or outcome; requests, blocks, unanswered and bytes by host, proxy or outcome; requests and bytes also by store [default: role or host]
    #[arg(long, value_parser = values::word::<Dimension>)]
    by: Option<Dimension>,
    /// Start at this day (UTC) or time [default: a day before the end]
    #[arg(long, value_name = "DAY|TIME", value_parser = values::since)]
    since: Option<DateTime<Utc>>,
    /// End after this day (UTC), or before this time [default: now]
    #[arg(long, value_name = "DAY|TIME", value_parser = values::until)]
    until: Option<DateTime<Utc>>,
    /// Length of one point, such as 15m, 1h or 1d; always 1d by store [default: fits the time span]
    #[arg(long, value_name = "TIME", value_parser = durations::parse)]
    step: Option<Duration>,
    /// Maximum number of lines; further series are added up into one [default: 20, by store 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(1..=MAX_SERIES))]
    series: Option<i64>,
}

/// One line of the table.
struct Line<'a> {
    label: String,
    values: &'a Values,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let query = [
        ("metric", Some(args.metric.to_string())),
        ("by", args.by.map(|by| by.to_string())),
        ("from", args.since.map(|from| from.to_rfc3339())),
        ("to", args.until.map(|to| to.to_rfc3339())),
        ("step", args.step.map(|step| humantime::format_duration(step).to_string())),
        ("series", args.series.map(|series| series.to_string())),
    ];
    let api = env.api_to_read().await?.naming(&[("from", "--since"), ("to", "--until")]);
    let chart: StatsSeries = api.get(&with_query("/api/stats/series", query)).await?;
    show(&chart, env)?;
    Ok(ExitCode::Ok)
}

fn show(chart: &StatsSeries, env: &Env) -> std::io::Result<()> {
    if env.out.is_json() {
        return env.out.value(chart);
    }
    let StatsSeries { metric, by, from, to, .. } = chart;
    env.out.line(format_args!("{metric} by {by} from {} to {}", time(*from), time(*to)))?;
    let all = sum(chart);
    let mut lines: Vec<Line> = chart.series.iter().map(Line::of).collect();
    if let Some(other) = &chart.other {
        lines.push(Line { label: format!("{} others", other.series), values: &other.values });
    }
    if lines.len() > 1 {
        lines.push(Line { label: "all".to_owned(), values: &all });
    }
    let (by, each) = (by.to_string(), each_bar(chart));
    match metric.is_timed(chart.by) {
        true if metric.has_percentiles() => {
            let headers = [by.as_str(), "total", "mean s", "p50 s", "p95 s", "p99 s", &each];
            env.out.list(chart, &lines, &headers, |line| percentile_cells(line, *metric))?;
        }
        true => env.out.list(chart, &lines, &[&by, "total", "mean s", &each], |line| timed_cells(line, *metric))?,
        false => env.out.list(chart, &lines, &[&by, "total", &each], |line| cells(line, *metric))?,
    }
    if lines.is_empty() {
        env.out.note(nothing_counted(chart));
    }
    Ok(())
}

/// Runs are counted some seconds after their end, by a running process.
fn nothing_counted(chart: &StatsSeries) -> String {
    match chart.closed_until {
        Some(until) => format!("nothing was counted in this time; all minutes before {} are counted", time(until)),
        None => "nothing was counted in this time".to_owned(),
    }
}

impl Line<'_> {
    fn of(series: &Series) -> Line<'_> {
        let label = match &series.name {
            Some(name) => format!("{} {name}", series.key),
            None => series.key.clone(),
        };
        Line { label, values: &series.values }
    }
}

fn cells(line: &Line, metric: Metric) -> Vec<String> {
    vec![line.label.clone(), amount(line.values.total, metric), sparkline(&line.values.points)]
}

fn timed_cells(line: &Line, metric: Metric) -> Vec<String> {
    let mean = line.values.mean_seconds.as_ref().and_then(|mean| mean.whole);
    let mut cells = cells(line, metric);
    cells.insert(2, mean.map(|seconds| format!("{seconds:.1}")).unwrap_or_default());
    cells
}

/// The line of all series has no percentiles.
fn percentile_cells(line: &Line, metric: Metric) -> Vec<String> {
    let percentiles = line.values.percentiles.as_ref();
    let each = percentiles.map_or([None; 3], |found| [&found.p50, &found.p95, &found.p99].map(|points| points.whole));
    let mut cells = timed_cells(line, metric);
    cells.splice(3..3, each.map(|seconds| seconds.map(|seconds| format!("{seconds:.1}")).unwrap_or_default()));
    cells
}

/// Sum of all series.
fn sum(chart: &StatsSeries) -> Values {
    let parts = chart.series.iter().map(|series| &series.values).chain(chart.other.as_ref().map(|other| &other.values));
    let mut all = Values { total: 0, points: Vec::new(), mean_seconds: None, percentiles: None };
    let mut seconds = 0.0;
    for part in parts {
        all.total += part.total;
        all.points.resize(part.points.len(), 0);
        all.points.iter_mut().zip(&part.points).for_each(|(sum, point)| *sum += point);
        let mean = part.mean_seconds.as_ref().and_then(|mean| mean.whole);
        seconds += mean.unwrap_or_default() * part.total as f64;
    }
    let whole = (all.total > 0).then(|| seconds / all.total as f64);
    all.mean_seconds = Some(SecondsByPoint { whole, points: Vec::new() });
    all
}

/// Duration of a bar.
fn each_bar(chart: &StatsSeries) -> String {
    let points = chart.series.first().map_or(1, |series| series.values.points.len());
    let bars = i64::try_from(points_of_a_bar(points)).unwrap_or(1);
    let minutes = chart.step_seconds * bars / 60;
    match (minutes % 1440, minutes % 60) {
        (0, _) => format!("per {} d", minutes / 1440),
        (_, 0) => format!("per {} h", minutes / 60),
        _ => format!("per {minutes} min"),
    }
}

fn amount(total: i64, metric: Metric) -> String {
    match metric {
        Metric::Bytes => bytes(total),
        _ => total.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(999, "999 B")]
    #[case(1_500, "1.5 kB")]
    #[case(2_000_000_000, "2.0 GB")]
    #[case(12_340_000_000_000, "12.3 TB")]
    fn bytes_have_the_units_of_those_who_sell_them(#[case] count: i64, #[case] text: &str) {
        assert_eq!(amount(count, Metric::Bytes), text);
        assert_eq!(amount(count, Metric::Requests), count.to_string());
    }
}
