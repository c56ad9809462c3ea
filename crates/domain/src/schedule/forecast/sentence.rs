//! A forecast in plain sentences, the same on the command line and in the dashboard.

use super::{Forecast, Limit};
use crate::amounts::counted;

/// The needs and what there is, the bottleneck, the duration of one crawl, and roles that are left out.
pub(super) fn of(forecast: &Forecast) -> String {
    let needs = format!("{}; {}.", needs(forecast), there_is(forecast));
    let stopped = forecast.stopped.as_ref().map(|why| format!("No store is crawled now: {why}."));
    let parts = [stopped, Some(needs), verdict(forecast), crawl(forecast), left_out(forecast)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn needs(forecast: &Forecast) -> String {
    let Some(hours) = forecast.every_hours else { return "No enabled schedule crawls a store".to_owned() };
    let work = format!("{} every {}", counted(forecast.stores, "store"), span(hours * 3600.0));
    match (forecast.slots_needed, forecast.requests_per_second_needed) {
        (Some(slots), Some(requests)) => {
            let verb = if forecast.stores == 1 { "needs" } else { "need" };
            format!("{work} {verb} {} and {} requests/s", counted(slots, "slot"), decimal(requests))
        }
        _ => {
            let roles = unmeasured(forecast, " or ");
            format!("The need of {work} is not known, because within the last 24 h no run of {roles} was measured")
        }
    }
}

fn left_out(forecast: &Forecast) -> Option<String> {
    let is_left_out = forecast.slots_needed.is_some() && !forecast.unmeasured.is_empty();
    let said = |roles| format!("Not counted, because no run was measured within the last 24 h: {roles}.");
    is_left_out.then(|| said(unmeasured(forecast, ", ")))
}

fn unmeasured(forecast: &Forecast, between: &str) -> String {
    forecast.unmeasured.iter().map(|role| role.name()).collect::<Vec<_>>().join(between)
}

fn there_is(forecast: &Forecast) -> String {
    let paused = match forecast.slots_paused {
        0 => String::new(),
        paused if paused == forecast.slots => ", all of them paused,".to_owned(),
        paused => format!(", {paused} of them paused,"),
    };
    let slots = counted(forecast.slots, "slot");
    match forecast.requests_per_second_permitted {
        Some(rate) => format!("you have {slots}{paused} and may send {}/s", decimal(rate)),
        None if paused.is_empty() => format!("you have {slots}, and the request rate is not limited"),
        None => format!("you have {slots}{paused} and the request rate is not limited"),
    }
}

fn verdict(forecast: &Forecast) -> Option<String> {
    let limit = forecast.limited_by?;
    let verdict = if forecast.is_enough? { "That is enough" } else { "That is not enough" };
    let Some(share) = forecast.share_of_limit else { return Some(format!("{verdict}: {}.", missing(limit))) };
    let percent = percent(share);
    Some(match share {
        ..TIGHT if forecast.requests_per_second_permitted.is_none() => {
            format!("{verdict}: it takes {percent} of the slots and of the proxies.")
        }
        ..TIGHT => format!("{verdict}: it takes {percent} of the slots, of the request rate and of the proxies."),
        _ => format!("{verdict}. The bottleneck is the {}: {percent} of it is needed.", name(limit)),
    })
}

/// Minimum share of a limit in use at which it is named.
const TIGHT: f64 = 0.5;

fn percent(share: f64) -> String {
    match share {
        ..0.01 => "less than 1 %".to_owned(),
        ..TIGHT => format!("at most {:.0} %", (share * 100.0).ceil()),
        _ => format!("{:.0} %", share * 100.0),
    }
}

fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::Slots => "number of slots",
        Limit::Rate => "request rate",
        Limit::Proxies => "number of proxies",
    }
}

fn missing(limit: Limit) -> &'static str {
    match limit {
        Limit::Slots => "one of the roles has no live worker",
        Limit::Rate => "no request is permitted",
        Limit::Proxies => "there is no usable proxy",
    }
}

fn crawl(forecast: &Forecast) -> Option<String> {
    let took = span(forecast.crawl_seconds.filter(|_| forecast.stores > 0)?);
    Some(format!("One crawl of {} takes about {took}.", counted(forecast.stores, "store")))
}

/// `4 h`, `1.5 h`, `20 min`, `8 s`.
fn span(seconds: f64) -> String {
    match seconds {
        3600.0.. => format!("{} h", decimal(seconds / 3600.0)),
        60.0.. => format!("{} min", decimal(seconds / 60.0)),
        _ => format!("{} s", decimal(seconds)),
    }
}

/// Writes one decimal, two below 1, and no zeros at the end.
fn decimal(number: f64) -> String {
    let text = if number < 1.0 { format!("{number:.2}") } else { format!("{number:.1}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
