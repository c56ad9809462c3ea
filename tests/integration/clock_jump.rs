//! The database's clock was ahead for a while, and is set right: every time written meanwhile is in the
//! future now.

use domain::task::role::Role;

use testkit::{Child, Farm, connect};

/// Moves every time in every table of drover's own, as if all had been written by a clock that was a day
/// ahead.
const A_DAY_AHEAD: &str = "
    SET session_replication_role = replica;
    DO $$
    DECLARE
      found record;
    BEGIN
      FOR found IN
        SELECT c.table_name, string_agg(format('%1$I = %1$I + interval ''1 day''', c.column_name), ', ') AS moved
          FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
         WHERE c.table_schema = 'public' AND c.data_type = 'timestamp with time zone' AND t.table_type = 'BASE TABLE'
           AND c.table_name NOT LIKE 'store_product_snapshots%' AND c.table_name NOT LIKE 'store_product_variant_history%'
         GROUP BY c.table_name
      LOOP
        EXECUTE format('UPDATE %I SET %s', found.table_name, found.moved);
      END LOOP;
    END $$;";

#[tokio::test]
async fn a_clock_that_was_a_day_ahead_freezes_no_store() {
    let farm = Farm::with_stores(4).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut first = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    first.signal(nix::sys::signal::Signal::SIGTERM);
    first.ended(testkit::PATIENCE).await;
    connect(farm.url()).await.batch_execute(A_DAY_AHEAD).await.unwrap();
    let ahead = "SELECT count(*) FROM dispensaries WHERE last_payload_at > now() + interval '23 hours'";
    assert_eq!(farm.count(ahead).await, 4, "the times were moved");

    farm.sim.set_crawl(2);
    farm.enqueue(Role::PayloadFetch).await;
    let _worker = Child::spawn(&mut farm.drover(&["worker"]));

    let done = "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND status = 'completed' AND result->>'order' = 'newest'";
    farm.until_counted("every store was crawled again", done, 8).await;
    let snapshots: usize = farm.sim.snapshots_expected(2).iter().map(|(_, count)| count).sum();
    let of_the_second = "SELECT count(*) FROM store_product_snapshots s JOIN raw_crawl_payloads p ON p.id = s.crawl_id WHERE p.fetched_at < now()";
    assert_eq!(farm.count(of_the_second).await, snapshots as i64);
    assert_eq!(farm.count("SELECT count(*) FROM dispensaries WHERE last_payload_at > now()").await, 0);
}
