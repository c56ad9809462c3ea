//! The match of all stores: reads what is known of them, lets [`domain::retailer`] compare, and writes what is sure.
//!
//! In: the caller's transaction. Out: new retailers, stores that have one now, and proposals for people. What a person decided stays.

use std::collections::BTreeMap;

use super::{forget_empty, lock};
use crate::statements::{FromRow, column, first_columns, named, read_all, rows, sql};
use crate::{Client, DbError, MAX_BATCH, Tx};
use contract::retailers::RetailerMatch;
use domain::retailer::{self, Input, KnownRetailer, Link, Proposals, RegisterEntry, RetailerId, StoreRecord};
use domain::store::StoreId;
use foundation::cpu;

/// Maximum number of stores that are compared.
const MAX_STORES: i64 = 200_000;
/// Maximum number of pairs that people keep apart.
const MAX_APART: i64 = 1_000_000;
/// Maximum number of licences that are compared.
const MAX_LICENCES: i64 = 200_000;
/// Maximum number of pairs for people to decide; the weakest are left out.
const MAX_PROPOSALS: usize = 10_000;

/// Joins the stores that are surely one retailer, and proposes the others. Takes seconds where there are very many stores.
pub async fn match_stores(tx: &Tx) -> Result<RetailerMatch, DbError> {
    lock(tx).await?;
    let input = read(tx).await?;
    let proposals = cpu::run(move || retailer::propose(&input)).await;
    write(tx, proposals).await
}

/// A store with the retailer that it has.
struct MatchedStore {
    record: StoreRecord,
    retailer_id: Option<RetailerId>,
}

async fn read(client: &Client) -> Result<Input, DbError> {
    let stores: Vec<MatchedStore> =
        read_all(&client.query(sql!("retailers/matching/stores.sql"), &[&MAX_STORES]).await?)?;
    let apart: Vec<Vec<StoreId>> =
        first_columns(&client.query(sql!("retailers/matching/apart.sql"), &[&MAX_APART]).await?)?;
    let register = read_all(&client.query(sql!("retailers/matching/register.sql"), &[&MAX_LICENCES]).await?)?;
    Ok(Input {
        retailers: known(&stores),
        stores: stores.into_iter().map(|store| store.record).collect(),
        refused: apart.into_iter().filter_map(|pair| pair.try_into().ok()).collect(),
        register,
    })
}

fn known(stores: &[MatchedStore]) -> Vec<KnownRetailer> {
    let mut known: BTreeMap<RetailerId, Vec<StoreId>> = BTreeMap::new();
    for store in stores {
        if let Some(id) = store.retailer_id {
            known.entry(id).or_default().push(store.record.id);
        }
    }
    known.into_iter().map(|(id, confirmed)| KnownRetailer { id, confirmed, refused: Vec::new() }).collect()
}

/// A store of a group that is sure.
struct Member {
    /// The group's number.
    group: i32,
    store: StoreId,
    retailer: Option<RetailerId>,
}

async fn write(tx: &Tx, proposals: Proposals) -> Result<RetailerMatch, DbError> {
    let Proposals { sure, mut likely } = proposals;
    let mut matched = RetailerMatch::default();
    let mut batch: Vec<Member> = Vec::new();
    let joined = sure.into_iter().filter(|group| group.retailer.is_some() || group.stores.len() > 1);
    for (number, group) in joined.enumerate() {
        if batch.len() + group.stores.len() > MAX_BATCH {
            join(tx, &std::mem::take(&mut batch), &mut matched).await?;
        }
        let group_number = i32::try_from(number).unwrap_or(i32::MAX);
        batch.extend(group.stores.iter().map(|store| Member {
            group: group_number,
            store: *store,
            retailer: group.retailer,
        }));
    }
    join(tx, &batch, &mut matched).await?;
    forget_empty(tx).await?;
    likely.truncate(MAX_PROPOSALS);
    tx.execute(sql!("retailers/matching/forget_proposals.sql"), &[]).await?;
    for (number, links) in likely.chunks(MAX_BATCH).enumerate() {
        matched.proposals += propose(tx, number * MAX_BATCH + 1, links).await? as i64;
    }
    Ok(matched)
}

async fn join(tx: &Tx, members: &[Member], matched: &mut RetailerMatch) -> Result<(), DbError> {
    let groups = column(members, |member| member.group);
    let stores = column(members, |member| member.store);
    let retailers = column(members, |member| member.retailer);
    let row = named!(tx.query_one("retailers/matching/join_groups.sql", groups, stores, retailers)).await?;
    let joined = Joined::from_row(&row)?;
    matched.retailers += joined.retailers;
    matched.joined += joined.stores;
    Ok(())
}

struct Joined {
    retailers: i64,
    stores: i64,
}

/// Writes the links from the rank `first` on; returns their number.
async fn propose(tx: &Tx, first: usize, links: &[Link]) -> Result<u64, DbError> {
    let ranks: Vec<i32> = (first..first + links.len()).map(|rank| i32::try_from(rank).unwrap_or(i32::MAX)).collect();
    let words = |link: &Link| link.evidence.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    named!(tx.execute(
        "retailers/matching/propose.sql",
        ranks,
        ones = column(links, |link| link.stores[0]),
        others = column(links, |link| link.stores[1]),
        evidence = column(links, words)
    ))
    .await
}

rows! {
    StoreRecord {
        id, platform, name, address, city, state, zip, latitude, longitude, phone, website, licences, is_recreational, is_medical,
        is_delivery = None,
    }
    MatchedStore { record: row, retailer_id }
    RegisterEntry { state, licence, name, address, city, zip }
    Joined { retailers, stores }
}
