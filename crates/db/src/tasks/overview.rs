//! Status summary for the overview page, and the picture of the queue: longest waits, failures with their reasons, states of
//! the stores' crawls, proxies by their health, workers with their tasks. Each is read in one snapshot, so that its numbers
//! agree. Reads only.

use std::collections::BTreeMap;

use super::pauses;
use super::views::{self, capacity, counts};
use crate::statements::{FromRow, document, rows, sql};
use crate::{Client, DbError, Tx, products, proxies, schema, workers};
use contract::overview::{Failures, Navigation, Overview, StoreCounts};
use contract::tasks::QueuePicture;
use domain::proxy::Budgets;
use domain::worker;

/// Maximum failures read; enough to find the common cause.
const MAX_READ: i64 = 10_000;
const MAX_REASONS: i64 = 20;
const MAX_TROUBLED: i64 = 20;

/// Number of running tasks in the overview, and in the picture of the queue.
const MAX_RUNNING_SHOWN: i64 = 8;
const MAX_RUNNING: i64 = 500;

/// Reads from one snapshot. `is_permitted` judges the addresses of images that were refused by their host.
pub async fn read(
    snapshot: &Tx,
    hours: i32,
    budgets: Budgets,
    is_permitted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Overview, DbError> {
    let proxies = proxies::usable(snapshot).await?;
    let next_run = snapshot.query_one(sql!("tasks/overview/next_run.sql"), &[]).await?;
    Ok(Overview {
        counts: counts::counts(snapshot).await?,
        ready: counts::ready(snapshot).await?,
        capacity: capacity::by_role(snapshot).await?,
        running: views::running(snapshot, MAX_RUNNING_SHOWN).await?,
        workers: workers::list_with_tasks(snapshot).await?,
        failures: failures(snapshot, hours).await?,
        stores: stores(snapshot, MAX_TROUBLED).await?,
        images: products::images::totals(snapshot, is_permitted).await?,
        proxies: proxies.counts,
        usable_proxies: proxies.usable,
        resting_proxies: proxies::resting(snapshot, budgets).await?,
        pauses: pauses::list(snapshot).await?,
        next_run_at: next_run.try_get("next_run_at")?,
        now: next_run.try_get("now")?,
    })
}

/// The numbers beside the names of pages; a store's states and a proxy's health are those of [`read`].
pub async fn navigation(client: &Client) -> Result<Navigation, DbError> {
    let stores = stores(client, 0).await?;
    let held = client.query_one(sql!("tasks/overview/held_hosts.sql"), &[]).await?;
    Ok(Navigation {
        proxies: proxies::count(client).await?,
        hosts_on_hold: held.try_get("held")?,
        stores: stores.enabled,
        stores_in_need: stores.needs_menu_id + stores.empty_menu,
        stores_delayed: stores.late + stores.held,
        products: stores.products,
        simulated_until: schema::installation::simulated_until(client).await?,
    })
}

/// The enabled stores by the state of their crawls. `named`: maximum number of stores in trouble that are named.
pub async fn stores(client: &Client, named: i64) -> Result<StoreCounts, DbError> {
    StoreCounts::from_row(&client.query_one(sql!("tasks/overview/stores.sql"), &[&named]).await?)
}

/// The pods with what runs on them, and the queue, from one snapshot.
pub async fn queue(snapshot: &Tx) -> Result<QueuePicture, DbError> {
    Ok(QueuePicture {
        pods: worker::pod::pods(workers::list_with_tasks(snapshot).await?),
        queue: counts::counts(snapshot).await?,
        running: views::running(snapshot, MAX_RUNNING).await?,
        failed_last_hour: failed_by_pod(snapshot).await?,
    })
}

async fn failed_by_pod(client: &Client) -> Result<BTreeMap<String, i64>, DbError> {
    let rows = client.query(sql!("tasks/overview/failed_by_pod.sql"), &[&MAX_READ]).await?;
    rows.iter().map(|row| Ok((row.try_get("pod")?, row.try_get("tasks")?))).collect()
}

async fn failures(client: &Client, hours: i32) -> Result<Failures, DbError> {
    let sql = sql!("tasks/overview/failures.sql");
    Failures::from_row(&client.query_one(sql, &[&hours, &MAX_READ, &MAX_REASONS]).await?)
}

rows! {
    Failures { hours, tasks, mended, reasons: document }

    StoreCounts {
        enabled, fresh, late, never_crawled, needs_menu_id, empty_menu, held, unscheduled, products, announced,
        troubled: document,
    }
}
