//! The private server: started, shared, killed, found again.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use db::{Db, PoolSizes};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, Uid};
use private_server::{PrivateServer, PrivateServerError};
use sysinfo::{Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};
use tokio_util::sync::CancellationToken;

const SOON: Duration = Duration::from_secs(60);
const SHORT_LINGER: Duration = Duration::from_millis(300);

async fn start(dir: &Path) -> PrivateServer {
    private_server::start_with(dir, testkit::server_options(SHORT_LINGER)).await.unwrap()
}

fn server_pid(dir: &Path) -> Option<Pid> {
    let text = fs::read_to_string(dir.join("data/postmaster.pid")).ok()?;
    text.lines().next()?.parse().ok().map(Pid::from_raw)
}

async fn is_up(url: &str) -> bool {
    tokio_postgres::connect(url, tokio_postgres::NoTls).await.is_ok()
}

async fn until_up(url: &str) {
    testkit::until("the server takes connections", SOON, async || is_up(url).await).await;
}

/// Waits until no process has the directory in its command line: neither the server nor its keeper.
async fn until_nothing_runs(dir: &Path) {
    testkit::until("no server and no keeper is left", SOON, async || processes_of(dir).is_empty()).await;
}

fn processes_of(dir: &Path) -> Vec<Pid> {
    running_with(&[&dir.to_string_lossy()])
}

fn keepers_of(dir: &Path) -> Vec<Pid> {
    running_with(&[private_server::KEEPER_ARG, &dir.to_string_lossy()])
}

/// Processes with all of these words in their command lines.
fn running_with(words: &[&str]) -> Vec<Pid> {
    let mut system = System::new();
    let wanted = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, wanted);
    let alive = system.processes().values().filter(|process| process.status() != ProcessStatus::Zombie);
    let is_meant = |process: &&Process| {
        let command = process.cmd().join(OsStr::new(" "));
        words.iter().all(|word| command.to_string_lossy().contains(word))
    };
    alive.filter(is_meant).map(|process| Pid::from_raw(process.pid().as_u32().cast_signed())).collect()
}

#[tokio::test]
async fn a_later_start_takes_the_server_that_the_first_one_made() {
    let dir = testkit::server_dir();
    // as users start it: everything is synced to disk
    let options = || private_server::Options { settings: Vec::new(), ..testkit::server_options(SHORT_LINGER) };
    let made = || std::fs::metadata(dir.path().join("data/PG_VERSION")).unwrap().modified().unwrap();

    let server = private_server::start_with(dir.path(), options()).await.unwrap();
    testkit::connect(server.url()).await.batch_execute("CREATE TABLE kept ()").await.unwrap();
    let first = made();
    drop(server);
    private_server::stop(dir.path()).await.unwrap();

    let server = private_server::start_with(dir.path(), options()).await.unwrap();
    testkit::connect(server.url()).await.batch_execute("TABLE kept").await.unwrap();
    assert_eq!(made(), first, "the data directory was made once more");
    drop(server);
    private_server::stop(dir.path()).await.unwrap();
}

#[tokio::test]
async fn five_processes_at_once_share_one_server() {
    let data_dir = testkit::server_dir();
    let urls: Vec<_> = (0..5)
        .map(|_| {
            let mut url = testkit::drover();
            url.args(["db", "url", "--dir"]).arg(data_dir.path()).stdout(Stdio::piped());
            tokio::spawn(async move { url.output().await.unwrap() })
        })
        .collect();
    for url in urls {
        let output = url.await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let url = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            url.trim(),
            format!("postgresql:///drover?host={}/postgres/sock&user=drover", data_dir.path().display())
        );
        assert!(is_up(url.trim()).await);
    }
    let stopped = testkit::drover().args(["db", "stop", "--dir"]).arg(data_dir.path()).status().await.unwrap();
    assert!(stopped.success());
    // the processes that `db url` left behind notice by themselves
    until_nothing_runs(data_dir.path()).await;
}

#[tokio::test]
async fn the_server_of_a_printed_url_outlives_the_command_that_printed_it() {
    let data_dir = testkit::server_dir();
    let dir = private_server::dir_in(data_dir.path());
    let server = start(&dir).await;
    let printed = testkit::drover().args(["db", "url", "--dir"]).arg(data_dir.path()).output().await.unwrap();
    let url = String::from_utf8(printed.stdout).unwrap();

    let left = Instant::now();
    drop(server);
    testkit::until("the linger is over", SOON, async || left.elapsed() > SHORT_LINGER * 4).await;
    assert!(is_up(url.trim()).await, "the process that `db url` leaves behind holds the lock");
    private_server::stop(&dir).await.unwrap();
    until_nothing_runs(&dir).await;
}

#[tokio::test]
async fn the_server_outlives_its_starter_and_ends_when_the_last_user_was_killed() {
    let data_dir = testkit::server_dir();
    let dir = private_server::dir_in(data_dir.path());
    let server = start(&dir).await;
    let url = server.url().to_owned();
    let observer = testkit::connect(&url).await;

    let mut psql = testkit::drover();
    psql.args(["db", "psql", "--dir"]).arg(data_dir.path()).args(["--", "-c", "SELECT pg_sleep(600)"]);
    let mut user = testkit::Child::spawn(psql.process_group(0));
    let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'";
    testkit::until("psql is at work", SOON, async || {
        observer.query_one(sleeps, &[]).await.unwrap().get::<_, i64>(0) == 1
    })
    .await;

    let left = Instant::now();
    drop(server);
    testkit::until("the linger is over", SOON, async || left.elapsed() > SHORT_LINGER * 4).await;
    assert!(is_up(&url).await, "psql holds the lock that drover handed over");

    killpg(Pid::from_raw(user.id().unwrap() as i32), Signal::SIGKILL).unwrap();
    user.ended(SOON).await;
    until_nothing_runs(&dir).await;

    let server = start(&dir).await;
    assert!(is_up(server.url()).await);
}

#[tokio::test]
async fn a_server_whose_directory_is_removed_ends_and_makes_nothing_there_again() {
    let parent = testkit::server_dir();
    let dir = parent.path().join("gone");
    let server = start(&dir).await;
    let removed = async || fs::remove_dir_all(&dir).is_ok() || !dir.exists();
    testkit::until("the directory is removed", SOON, removed).await;
    until_nothing_runs(&dir).await;
    assert!(!dir.exists());
    drop(server);
}

#[tokio::test]
async fn a_killed_server_is_started_again_while_it_has_users() {
    let dir = testkit::server_dir();
    let server = start(dir.path()).await;
    testkit::connect(server.url()).await.batch_execute("CREATE TABLE kept ()").await.unwrap();
    for _ in 0..2 {
        let killed = server_pid(dir.path()).unwrap();
        kill(killed, Signal::SIGKILL).unwrap();
        testkit::until("another server runs", SOON, async || server_pid(dir.path()).is_some_and(|pid| pid != killed))
            .await;
        until_up(server.url()).await;
    }
    testkit::connect(server.url()).await.batch_execute("TABLE kept").await.unwrap();
}

#[tokio::test]
async fn a_start_mends_what_kill_9_of_everything_left() {
    let dir = testkit::server_dir();
    let server = start(dir.path()).await;
    testkit::connect(server.url()).await.batch_execute("CREATE TABLE kept ()").await.unwrap();
    for process in processes_of(dir.path()) {
        kill(process, Signal::SIGKILL).unwrap();
    }
    drop(server);
    let server = start(dir.path()).await;
    testkit::connect(server.url()).await.batch_execute("TABLE kept").await.unwrap();
}

#[tokio::test]
async fn a_server_whose_keeper_was_killed_gets_a_new_one() {
    let dir = testkit::server_dir();
    let server = start(dir.path()).await;
    let postgres = server_pid(dir.path()).unwrap();
    for keeper in keepers_of(dir.path()) {
        kill(keeper, Signal::SIGKILL).unwrap();
    }
    drop(server);
    let server = start(dir.path()).await;
    assert_eq!(server_pid(dir.path()), Some(postgres), "the running server is joined");
    drop(server);
    until_nothing_runs(dir.path()).await;
}

#[tokio::test]
async fn a_killed_initialisation_leaves_nothing_in_the_way() {
    let dir = testkit::server_dir();
    fs::create_dir(dir.path().join("data.new.1")).unwrap();
    fs::write(dir.path().join("data.new.1/PG_VERSION"), "15\n").unwrap();
    let server = start(dir.path()).await;
    assert!(is_up(server.url()).await);
    assert!(!dir.path().join("data.new.1").exists());
}

#[tokio::test]
async fn a_pid_file_whose_pid_is_in_use_again_does_not_keep_the_server_down() {
    let dir = testkit::server_dir();
    drop(start(dir.path()).await);
    private_server::stop(dir.path()).await.unwrap();
    let ours = format!("{}\n{}\n1\n5432\n", std::process::id(), dir.path().join("data").display());
    fs::write(dir.path().join("data/postmaster.pid"), ours).unwrap();
    let server = start(dir.path()).await;
    assert!(is_up(server.url()).await);
}

#[tokio::test]
async fn a_directory_that_is_no_cluster_is_left_untouched() {
    let dir = testkit::server_dir();
    fs::create_dir(dir.path().join("data")).unwrap();
    fs::write(dir.path().join("data/photo.jpg"), "precious").unwrap();
    let error = private_server::start_with(dir.path(), testkit::server_options(SHORT_LINGER)).await.unwrap_err();
    assert!(matches!(error, PrivateServerError::NotACluster(_)), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("data/photo.jpg")).unwrap(), "precious");
}

#[tokio::test]
async fn a_setting_that_the_server_refuses_is_shown_with_its_log() {
    let dir = testkit::server_dir();
    let mut options = testkit::server_options(SHORT_LINGER);
    options.settings.push("shared_buffers=nonsense".to_owned());
    let error = private_server::start_with(dir.path(), options).await.unwrap_err();
    assert!(matches!(&error, PrivateServerError::Start { tail, .. } if tail.contains("nonsense")), "{error}");
}

#[tokio::test]
async fn a_closed_parent_directory_is_named() {
    if !Uid::effective().is_root() {
        println!("skipped: only root runs the server under another account");
        return;
    }
    let parent = testkit::server_dir();
    fs::set_permissions(parent.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let error =
        private_server::start_with(&parent.path().join("pg"), testkit::server_options(SHORT_LINGER)).await.unwrap_err();
    assert!(matches!(&error, PrivateServerError::Unreachable { closed, .. } if closed == parent.path()), "{error}");
}

#[tokio::test]
async fn pools_recover_by_themselves_from_an_immediate_restart_under_load() {
    let dir = testkit::server_dir();
    let server = start(dir.path()).await;
    let db = Db::new(server.url(), &testkit::database_settings(), PoolSizes { work: 4, api: 1 }).unwrap();
    let over = CancellationToken::new();
    let load: Vec<_> = (0..8).map(|_| tokio::spawn(work_through_the_restart(db.clone(), over.clone()))).collect();
    let observer = testkit::connect(server.url()).await;
    let busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'drover'";
    testkit::until("the load is on", SOON, async || observer.query_one(busy, &[]).await.unwrap().get::<_, i64>(0) == 4)
        .await;

    let held = async { db.client().await?.query_one("SELECT pg_sleep(60)", &[]).await };
    let restart = async {
        let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'";
        let sleeps = async || observer.query_one(sleeps, &[]).await.unwrap().get::<_, i64>(0) == 1;
        testkit::until("one call is under way", SOON, sleeps).await;
        restart_immediately(dir.path()).await;
    };
    let (held, ()) = tokio::join!(held, restart);
    assert!(held.is_err_and(|error| error.is_transient()), "there was no outage");
    over.cancel();
    for worker in load {
        worker.await.unwrap();
    }
}

/// Works until the restart is over and it has had a success since; any error must say that trying again helps. A worker that waited for
/// a connection in that time has seen none.
async fn work_through_the_restart(db: Db, over: CancellationToken) {
    let mut failures = 0;
    let begun = Instant::now();
    while begun.elapsed() < SOON {
        let is_over = over.is_cancelled();
        let call = async { db.client().await?.query_one("SELECT count(*) FROM pg_class", &[]).await };
        match call.await {
            Ok(_) if is_over => return,
            Ok(_) => {}
            Err(error) => {
                assert!(error.is_transient(), "{error}");
                failures += 1;
                tokio::task::yield_now().await;
            }
        }
    }
    panic!("{failures} failures, and no success after the restart within {SOON:?}");
}

/// Restarts the server as an administrator does, beside the keeper.
async fn restart_immediately(dir: &Path) {
    let postgres = server_pid(dir).unwrap();
    let Ok(exe) = fs::read_link(format!("/proc/{postgres}/exe")) else {
        return kill(postgres, Signal::SIGQUIT).unwrap(); // the same without pg_ctl, where /proc does not show its path
    };
    let mut pg_ctl = tokio::process::Command::new(exe.with_file_name("pg_ctl"));
    pg_ctl.args(["restart", "-m", "immediate", "-w", "-D"]).arg(dir.join("data")).current_dir("/");
    pg_ctl.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if Uid::effective().is_root() {
        let owner = fs::metadata(dir.join("data")).unwrap();
        pg_ctl.uid(std::os::unix::fs::MetadataExt::uid(&owner)).gid(std::os::unix::fs::MetadataExt::gid(&owner));
    }
    assert!(pg_ctl.status().await.unwrap().success(), "the keeper must not get in its way");
}

#[tokio::test]
async fn the_servers_log_holds_no_rows_and_is_closed_to_others() {
    use std::os::unix::fs::PermissionsExt;
    let dir = testkit::server_dir();
    let server = start(dir.path()).await;
    let client = testkit::connect(server.url()).await;
    client
        .batch_execute("SET log_min_error_statement = error; CREATE TABLE t (secret text CHECK (secret = ''))")
        .await
        .unwrap();
    client.batch_execute("INSERT INTO t SELECT reverse('terces')").await.unwrap_err();
    let log = dir.path().join("server.log");
    testkit::until("the error is in the log", SOON, async || fs::read_to_string(&log).unwrap().contains("violates"))
        .await;
    assert!(!fs::read_to_string(&log).unwrap().contains("Failing row"), "no row");
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}
