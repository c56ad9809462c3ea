//! Migrations on a real database.

use drover::db::migrate;

use crate::support;

#[tokio::test]
async fn eight_processes_at_once_all_start_and_one_migrates() {
    let database = support::empty_database().await;
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let url = database.url.clone();
            tokio::spawn(async move {
                let sizes = drover::db::PoolSizes { work: 1, api: 1 };
                let db = drover::db::Db::new(&url, &support::database_settings(), sizes).unwrap();
                migrate::up(&db).await.unwrap()
            })
        })
        .collect();
    let mut worked = 0;
    for run in runs {
        worked += usize::from(run.await.unwrap() != migrate::Report::default());
    }
    assert_eq!(worked, 1);
    assert!(migrate::status(&database.db).await.unwrap().is_current());
}
