//! kill -9 of a process in the transaction that makes children: all of them are there, or none is.

use std::process::Stdio;

use db::{Db, PoolSizes, tasks};
use domain::task::TaskId;
use domain::task::role::Role;
use queue::{Outcome, WriteResults};
use testkit::{PATIENCE, connect, database_settings, until};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::runs::{Runs, TaskRun, creator, enqueue, sync, sync_or_creator};
use crate::queue::Queue;

const KILLS: usize = 20;
const CHILDREN: usize = 50;
const IN_TRANSACTION: &str = "the settling transaction has begun";
const DATABASE: &str = "DROVER_TEST_DATABASE";

#[tokio::test]
async fn a_process_that_is_killed_in_its_settlement_leaves_no_second_set_of_children() {
    let queue = Queue::new().await;
    let client = queue.client().await;
    let runs = Runs::new(&queue.database.db, |run| sync_or_creator(run, CHILDREN));
    let mut rolled_back = 0;
    for round in 0..KILLS {
        let parent = enqueue(&client, sync()).await;
        match round % 4 {
            0 => killed_at_the_first_write(&queue).await,
            1 | 2 => killed_before_the_commit(&queue, parent).await,
            _ => killed_after_the_commit(&queue, parent).await,
        }
        let open = "SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL";
        until("the server has noticed", PATIENCE, async || queue.number(open).await == 0).await;
        let made = children(&queue, parent).await;
        assert!([0, CHILDREN as i64].contains(&made), "{made} children after kill {round}");
        if made == 0 {
            rolled_back += 1;
            queue.expire(parent).await;
            tasks::recover(&client, None).await.unwrap();
        }
        runs.run_all(&client).await;
        assert_eq!(children(&queue, parent).await, CHILDREN as i64, "after kill {round}");
        assert_eq!(queue.outcomes(parent).await.last().map(String::as_str), Some("completed"));
    }
    assert!((KILLS / 2..KILLS).contains(&rolled_back), "{rolled_back} of {KILLS} settlements were rolled back");
}

async fn children(queue: &Queue, parent: TaskId) -> i64 {
    queue.number(&format!("SELECT count(*) FROM worker_tasks WHERE parent_task_id = {parent}")).await
}

async fn killed_at_the_first_write(queue: &Queue) {
    let (mut process, mut lines) = start(queue);
    process.stdin.take();
    until_in_transaction(&mut lines).await;
    process.kill().await.unwrap();
}

/// The children are inserted, and the settlement waits for the parent's row.
async fn killed_before_the_commit(queue: &Queue, parent: TaskId) {
    let (mut process, mut lines) = start(queue);
    let running = format!("SELECT count(*) FROM worker_tasks WHERE id = {parent} AND status = 'running'");
    until("it runs", PATIENCE, async || queue.number(&running).await == 1).await;
    let person = connect(&queue.database.url).await;
    let lock = format!("BEGIN; SELECT FROM worker_tasks WHERE id = {parent} FOR UPDATE");
    person.batch_execute(&lock).await.unwrap();
    process.stdin.take();
    until_in_transaction(&mut lines).await;
    until("the settlement waits", PATIENCE, async || queue.number(testkit::WAITING_FOR_LOCKS).await == 1).await;
    process.kill().await.unwrap();
    person.batch_execute("COMMIT").await.unwrap();
}

async fn killed_after_the_commit(queue: &Queue, parent: TaskId) {
    let (mut process, _lines) = start(queue);
    process.stdin.take();
    until("the children are there", PATIENCE, async || children(queue, parent).await > 0).await;
    process.kill().await.unwrap();
}

/// A process that runs one task. Its body ends when its standard input is closed.
fn start(queue: &Queue) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "waiting::kill::the_process_that_is_killed", "--ignored", "--nocapture"]);
    command.env(DATABASE, &queue.database.url).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    (process, lines)
}

async fn until_in_transaction(lines: &mut Lines<BufReader<ChildStdout>>) {
    while let Some(line) = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap() {
        if line.contains(IN_TRANSACTION) {
            return;
        }
    }
    panic!("the process ended before its settlement");
}

#[tokio::test]
#[ignore = "run by the test above, in a process of its own"]
async fn the_process_that_is_killed() {
    let Ok(url) = std::env::var(DATABASE) else { return };
    let db = Db::new(&url, &database_settings(), PoolSizes { work: 2, api: 1 }).unwrap();
    let runs = Runs::new(&db, fan_out);
    assert!(runs.run_one().await);
    std::future::pending::<()>().await;
}

async fn fan_out(run: TaskRun) -> Result<Outcome, queue::TaskError> {
    assert_eq!(run.task.role, Role::PaidContentSync);
    // the test decides when the body ends
    tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin())).await.unwrap().unwrap();
    let children = (0..CHILDREN).map(creator).collect();
    let awaits = Outcome::wait_for(children).write((), |(), _| {
        Box::pin(async {
            println!("{IN_TRANSACTION}");
            Ok(WriteResults::default())
        })
    });
    Ok(awaits.into())
}
