//! Output that scripts rely on: exit codes, data on stdout, text on stderr, and for services one JSON object a
//! line where stderr is not a terminal.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use domain::task::role::Role;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::process::Command;

use testkit::{Child, Farm, PATIENCE, database, drover, empty_database, server_dir};

const UNREACHABLE_DATABASE: &str = "postgresql://me:secret@127.0.0.1:1/drover";

async fn ended(command: &mut Command) -> Output {
    command.output().await.unwrap()
}

fn json_lines(bytes: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(bytes).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_wrong_flag_is_a_usage_error() {
    let output = ended(drover().args(["version", "--loud"])).await;
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--loud"));
}

#[tokio::test]
async fn help_and_version_are_answers() {
    for arguments in [["--help"], ["--version"], ["version"]] {
        let output = ended(drover().args(arguments)).await;
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{arguments:?}");
        let names_features = String::from_utf8_lossy(&output.stdout).contains("features: cloud, dashboard, demo, ");
        assert_eq!(names_features, arguments != ["--help"], "{arguments:?}");
    }
}

#[tokio::test]
async fn a_bad_configuration_ends_every_command_with_all_of_its_faults() {
    let wrong = [("DROVER__QUEUE__LEESE", "4s"), ("MAX_CONCURRENT_TASKS", "many"), ("WORKER_ROLE", "nobody")];
    for arguments in [["migrate", "status"], ["config", "show"], ["config", "check"]] {
        let output = ended(drover().args(arguments).envs(wrong)).await;
        assert_eq!(output.status.code(), Some(78), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.starts_with("drover: "), "text for people: {text}");
        assert!(wrong.iter().all(|(name, _)| text.contains(name)), "{text}");
    }
    let service = ended(drover().arg("up").envs(wrong)).await;
    let [line] = &json_lines(&service.stderr)[..] else { panic!("one line, got {service:?}") };
    assert_eq!((service.status.code(), &line["level"]), (Some(78), &"ERROR".into()));
}

#[tokio::test]
async fn config_check_lists_faults_as_data() {
    let good = ended(drover().args(["config", "check", "--json"])).await;
    assert_eq!(good.status.code(), Some(0));
    assert_eq!(json_lines(&good.stdout)[0]["ok"], true);
    let fingerprints = &json_lines(&good.stdout)[0]["fingerprints"];
    assert_eq!(fingerprints.as_array().unwrap().len(), 12);
    assert_eq!(fingerprints[0], serde_json::json!({"id": "chrome-131-windows", "weight": 28, "evidence": "recorded"}));

    let bad = ended(drover().args(["config", "check", "--json"]).env("PORT", "http")).await;
    assert_eq!(bad.status.code(), Some(78));
    let fault = &json_lines(&bad.stdout)[0]["faults"][0];
    assert_eq!((&fault["origin"], &fault["key"]), (&"PORT".into(), &"api.listen".into()));
}

#[tokio::test]
async fn config_show_tells_origins_and_no_secret() {
    let output = ended(drover().args(["config", "show", "--origin"]).env("DATABASE_URL", UNREACHABLE_DATABASE)).await;
    let shown = String::from_utf8(output.stdout).unwrap();
    let line = shown.lines().find(|line| line.starts_with("database.url")).unwrap();
    assert!(line.contains("me:***@") && line.ends_with("DATABASE_URL"), "{line}");
    assert!(!shown.contains(":secret"));
}

#[tokio::test]
async fn no_odd_database_url_shows_its_password() {
    for url in [
        "postgresql:/drover:s3cret@x/y",
        "postgresql://me:/s3cret@db/x",
        "postgresql://me:42/s3cret@db/x",
        "me:s3cret@db",
    ] {
        let output = ended(drover().args(["config", "show"]).env("DATABASE_URL", url)).await;
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(text.contains("database.url") && !text.contains("s3cret"), "{url}: {text}");
    }
}

#[tokio::test]
async fn the_command_line_of_psql_holds_no_password() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/bin/echo", dir.path().join("psql")).unwrap();
    let mut psql = drover();
    psql.args(["db", "psql", "--", "-c", "SELECT 1"]).env("PATH", dir.path());
    let output = ended(psql.env("DATABASE_URL", "postgresql://me:/s3cret@127.0.0.1:1/drover")).await;
    let command_line = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(command_line, "postgresql://me@127.0.0.1:1/drover -c SELECT 1\n");
}

#[tokio::test]
async fn a_config_directory_of_another_account_is_used_only_when_it_is_named() {
    if !nix::unistd::Uid::effective().is_root() {
        println!("skipped: only root can give a directory to another account");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("config")).unwrap();
    let file = dir.path().join("config/default.toml");
    std::fs::write(&file, "[log]\nlevel = \"warn\"\n").unwrap();
    chown(&file, Some(4711), None).unwrap();

    let trusting = ended(drover().args(["config", "show"]).current_dir(dir.path())).await;
    let text = String::from_utf8_lossy(&trusting.stderr).into_owned();
    assert_eq!(trusting.status.code(), Some(78), "{text}");
    assert!(text.contains("uid 4711") && text.contains("--config config"), "{text}");
    let named = ended(drover().args(["config", "show", "--config", "config"]).current_dir(dir.path())).await;
    assert_eq!(named.status.code(), Some(0), "{}", String::from_utf8_lossy(&named.stderr));
    let by_sudo = ended(drover().args(["config", "show"]).env("SUDO_UID", "4711").current_dir(dir.path())).await;
    assert_eq!(by_sudo.status.code(), Some(0), "{}", String::from_utf8_lossy(&by_sudo.stderr));
}

#[tokio::test]
async fn an_unnamed_config_directory_that_another_account_may_change_is_refused() {
    if !nix::unistd::Uid::effective().is_root() {
        println!("skipped: only root can give a directory to another account");
        return;
    }
    type Change = fn(&Path);
    let cases: [(Change, &str); 6] = [
        (|config| chown(config, Some(4711), None).unwrap(), "./config: belongs to another account (uid 4711)"),
        (|config| set_mode(config, 0o777), "./config: may be changed by every account"),
        (moved_behind_a_link, "./config: is a link"),
        (|config| owned_by_a_stranger(config, "development.toml"), "development.toml: belongs to another account"),
        (|config| set_mode(&config.join("default.toml"), 0o666), "default.toml: may be changed by every account"),
        (|config| owned_by_a_stranger(config, "dutchie.toml"), "dutchie.toml: belongs to another account"),
    ];
    for (change, problem) in cases {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config");
        std::fs::create_dir(&config).unwrap();
        // as in a directory that Kubernetes mounts
        std::fs::write(dir.path().join("data.toml"), "").unwrap();
        symlink("../data.toml", config.join("default.toml")).unwrap();
        let believed = ended(drover().args(["config", "show"]).current_dir(dir.path())).await;
        assert_eq!(believed.status.code(), Some(0), "{}", String::from_utf8_lossy(&believed.stderr));

        change(&config);
        let refused = ended(drover().args(["config", "show"]).current_dir(dir.path())).await;
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(78), "{problem}: {text}");
        assert!(text.contains(problem) && text.contains("--config config"), "{problem}: {text}");
    }
}

fn owned_by_a_stranger(config: &Path, name: &str) {
    std::fs::write(config.join(name), "").unwrap();
    chown(config.join(name), Some(4711), None).unwrap();
}

fn moved_behind_a_link(config: &Path) {
    let target = config.with_file_name("elsewhere");
    std::fs::rename(config, &target).unwrap();
    symlink(target, config).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_database_that_is_away_is_an_exit_code_of_its_own() {
    for arguments in [["migrate", "status"], ["stores", "list"], ["proxies", "check"]] {
        let output = ended(drover().args(arguments).env("DATABASE_URL", UNREACHABLE_DATABASE)).await;
        assert_eq!(output.status.code(), Some(69), "{arguments:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        let database = "the database postgresql://me:***@127.0.0.1:1/drover ";
        assert!(message.contains("unavailable") && message.contains(database), "{message}");
        assert!(message.contains("start its server") && !message.contains("its schema"), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
}

#[tokio::test]
async fn a_wrong_value_is_refused_by_its_flag_with_what_is_expected() {
    let database = database().await;
    let cases: [(&[&str], i32, &str); 14] = [
        (&["tasks", "show", "seven"], 2, "expected an id, which is a whole number such as 7"),
        (&["tasks", "list", "--limit", "501"], 2, "expected a whole number from 1 to 500"),
        (&["enqueue", "--role", "payload_fetch"], 2, "--store: missing"),
        (&["enqueue", "--role", "payload_fetch", "--store", "77"], 3, "--store: store 77 does not exist"),
        (&["enqueue", "--role", "analytics_refresh", "--at", "yesterday"], 2, "2025-01-10T08:00:00Z"),
        (&["enqueue", "--role", "analytics_refresh", "--priority", "5000"], 2, "--priority: 5000 is out of range"),
        (&["capacity", "--stores", "-3"], 2, "expected a whole number from"),
        (&["hosts", "show", "a_b.example"], 2, "expected a host such as menu.example.com"),
        (&["worker", "--slots", "0"], 2, "expected a whole number from 1"),
        (&["schedules", "trigger", "nightly"], 3, "drover schedules list"),
        (&["tasks", "list", "--schedule", "nightly"], 3, "drover schedules list"),
        (&["tasks", "list", "--store", "Leaf"], 2, "drover stores list"),
        (&["jobs", "show", "77"], 3, "job 77 does not exist; `drover jobs list`"),
        (&["notifications", "list", "--endpoint", "phone"], 2, "drover media list endpoints"),
    ];
    for (args, code, message) in cases {
        let output = ended(drover().args(args).env("DATABASE_URL", &database.url)).await;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
        assert!(error.contains(message) && output.stdout.is_empty(), "{args:?}: {error}");
    }
}

#[tokio::test]
async fn a_reader_who_has_gone_is_no_error() {
    for arguments in [["config", "show"], ["version", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = drover().args(arguments).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().await.unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[tokio::test]
async fn doctor_names_what_is_missing_with_its_remedy() {
    let fresh = empty_database().await;
    let storage = server_dir();
    let ask = async |url: &str| {
        let mut doctor = drover();
        doctor.args(["doctor", "--json"]).env("DATABASE_URL", url).env("DROVER__STORAGE__ROOT", storage.path());
        let output = ended(&mut doctor).await;
        (output.status.code(), json_lines(&output.stdout).remove(0))
    };
    let find = |findings: &Value, check: &str| {
        findings["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|finding| finding["check"] == check)
            .cloned()
            .unwrap_or_default()
    };

    let (code, findings) = ask(&fresh.url).await;
    assert_eq!(code, Some(0), "a schema that the next start makes is no fault: {findings}");
    assert!(find(&findings, "schema")["remedy"].as_str().unwrap().contains("migrate up"));
    assert_eq!(find(&findings, "schema")["result"], "advice");

    let whole = database().await;
    let (code, findings) = ask(&whole.url).await;
    assert_eq!(code, Some(1));
    let proxies = find(&findings, "proxies");
    assert!(proxies["remedy"].as_str().unwrap().contains("drover proxies import"), "{findings}");

    let store = "INSERT INTO dispensaries (id, name, slug, platform) VALUES (1, 'Leaf', 'leaf', 'dutchie');
                 INSERT INTO raw_crawl_payloads (dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
                 VALUES (1, 'dutchie', 'payloads/2026/01/01/gone.json.gz', repeat('0', 64), 1, 1, 1, 1, now())";
    whole.raw.batch_execute(store).await.unwrap();
    let (_, findings) = ask(&whole.url).await;
    let files = find(&findings, "payload files");
    assert!(files["detail"].as_str().unwrap().contains(".database"), "the root has no owner: {findings}");
    let client = whole.db.client().await.unwrap();
    let owner = db::schema::installation::storage_owner(&client).await.unwrap();
    storage::Payloads::new(storage.path(), owner).register_owner().await.unwrap();
    let (_, findings) = ask(&whole.url).await;
    let files = find(&findings, "payload files");
    assert!(files["detail"].as_str().unwrap().contains("1 of the newest 1 are missing"), "{findings}");

    let (code, findings) = ask(UNREACHABLE_DATABASE).await;
    assert_eq!(code, Some(1));
    let database = find(&findings, "database");
    assert!(database["remedy"].as_str().unwrap().contains("unset database.url"), "{findings}");
    assert!(database["detail"].as_str().unwrap().contains("me:***@127.0.0.1:1"), "{findings}");

    let mut without_server = drover();
    without_server.args(["doctor", "--json"]).arg("--dir").arg(storage.path()).env("DROVER_PG_BIN", storage.path());
    let findings = json_lines(&ended(&mut without_server).await.stdout).remove(0);
    let database = find(&findings, "database");
    assert!(database["detail"].as_str().unwrap().contains("apt-get install postgresql"), "{findings}");
    assert!(database["remedy"].as_str().unwrap().contains("set database.url"), "{findings}");
}

#[tokio::test]
async fn a_data_directory_that_is_named_is_used_whatever_database_is_configured() {
    let dir = server_dir();
    let run = async |args: &[&str]| {
        let output =
            ended(drover().args(args).arg("--dir").arg(dir.path()).env("DATABASE_URL", UNREACHABLE_DATABASE)).await;
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    };
    run(&["stores", "add", "--name", "A Shop", "--slug", "a-shop"]).await;
    let listed = run(&["stores", "list", "--json"]).await;
    assert_eq!(json_lines(&listed.stdout)[0]["stores"][0]["name"], "A Shop");

    let bin = tempfile::tempdir().unwrap();
    symlink("/bin/echo", bin.path().join("psql")).unwrap();
    let mut psql = drover();
    psql.args(["db", "psql", "-c", "SELECT 1", "--dir"]).arg(dir.path()).env("PATH", bin.path());
    let output = ended(psql.env("DATABASE_URL", UNREACHABLE_DATABASE)).await;
    let command_line = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(command_line.ends_with(" -c SELECT 1\n") && !command_line.contains("127.0.0.1"), "{output:?}");
    let stops = [run(&["db", "stop"]).await, run(&["db", "stop"]).await];
    let [first, second] = stops.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    assert!(first.contains("is stopped"), "{first}");
    assert!(second.starts_with("No private server runs in "), "{second}");
}

#[tokio::test]
async fn a_server_that_is_stopped_under_its_users_says_that_they_have_lost_it() {
    let dir = server_dir();
    let options = testkit::server_options(Duration::from_secs(30));
    let _user = private_server::start_with(&private_server::dir_in(dir.path()), options).await.unwrap();
    let output = ended(drover().args(["db", "stop", "--dir"]).arg(dir.path()).env_remove("DATABASE_URL")).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("It was in use"), "{output:?}");
}

#[tokio::test]
async fn the_doctor_names_the_missing_tools_of_media_jobs_in_one_finding_and_what_to_type() {
    let (dir, bin) = (server_dir(), server_dir());
    let findings = async || {
        let mut doctor = drover();
        doctor.args(["doctor", "--json", "--dir"]).arg(dir.path()).env_remove("DATABASE_URL");
        let output = ended(doctor.env("DROVER__MEDIA__TOOL_PATH", bin.path())).await;
        let findings = json_lines(&output.stdout).remove(0)["findings"].as_array().unwrap().clone();
        let of_media = |finding: &Value| ["media tool", "media limits"].contains(&finding["check"].as_str().unwrap());
        findings
            .into_iter()
            .filter(of_media)
            .map(|finding| (finding["result"].clone(), finding["detail"].clone(), finding["remedy"].clone()))
            .collect::<Vec<_>>()
    };
    let missing = findings().await;
    assert_eq!(missing.len(), 2);
    #[cfg(target_os = "linux")]
    assert_eq!(missing[1].1, "each process of a tool has at most 1024 MiB of memory");
    let (result, detail, remedy) = &missing[0];
    assert_eq!(result, "advice");
    assert!(detail.as_str().unwrap().ends_with(": gallery-dl, yt-dlp, ffmpeg, ffprobe, deno or node"), "{detail}");
    for part in [
        "`apt install python3-venv` or `brew install python`, then `python3 -m venv DIR",
        "DIR/bin/pip install yt-dlp`",
        "`apt install ffmpeg`",
        "`pip install deno`",
    ] {
        assert!(remedy.as_str().unwrap().contains(part), "{remedy}");
    }

    let scripts =
        [("gallery-dl", "echo 1.32.18"), ("yt-dlp", "exit 3"), ("node", "echo v18.19.0"), ("python3", "exit 0")];
    for (tool, script) in scripts {
        let path = bin.path().join(tool);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let found = findings().await;
    assert_eq!(found[0].1, "gallery-dl: 1.32.18");
    assert_eq!((&found[1].0, found[1].1.as_str().unwrap()), (&json!("fault"), "yt-dlp does not run: exit status: 3"));
    assert!(found[1].2.as_str().unwrap().starts_with("`python3 -m venv DIR"), "{found:?}");
    assert_eq!((&found[2].0, found[2].1.as_str().unwrap()), (&json!("advice"), "node is too old: v18.19.0"));
}

#[tokio::test]
async fn the_doctor_creates_no_database() {
    let dir = server_dir();
    let output = ended(drover().args(["doctor", "--dir"]).arg(dir.path()).env_remove("DATABASE_URL")).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("none yet in") && said.contains("is installed"), "{output:?}");
    assert!(!private_server::dir_in(dir.path()).exists());
}

#[tokio::test]
async fn a_database_command_in_a_misspelled_directory_names_it_and_creates_nothing() {
    let dir = server_dir();
    let missing = dir.path().join("nodir");
    for args in [&["db", "psql"][..], &["db", "psql", "-c", "SELECT 1"], &["db", "stop"]] {
        let output = ended(drover().args(args).arg("--dir").arg(&missing).env_remove("DATABASE_URL")).await;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{args:?}: {error}");
        assert!(error.contains(&missing.display().to_string()) && output.stdout.is_empty(), "{args:?}: {error}");
        assert!(!missing.exists(), "{args:?}");
    }
    let output = ended(drover().args(["db", "psql", "-c", "SELECT 1", "--dir"])).await;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[tokio::test]
async fn a_checked_configuration_is_one_line_and_its_fingerprints_are_listed_by_a_flag() {
    let lines = async |flags: &[&str]| {
        let output = ended(drover().args(["config", "check"]).args(flags)).await;
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    assert_eq!((lines(&[]).await, lines(&["--fingerprints"]).await), (1, 13));
}

#[tokio::test]
async fn the_help_of_pause_shows_that_a_pause_needs_a_reason() {
    let help = ended(drover().args(["pause", "--help"])).await;
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(text.contains("<SCOPE> [OF] --reason <TEXT>"), "{text}");
    let refused = ended(drover().args(["pause", "all"])).await;
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("--reason <TEXT>"), "{error}");
}

#[tokio::test]
async fn doctor_names_pauses_and_stores_in_need_with_the_commands_that_end_both() {
    let database = database().await;
    let doctor = async || {
        let output = ended(drover().args(["doctor", "--json"]).env("DATABASE_URL", &database.url)).await;
        json_lines(&output.stdout).remove(0)["findings"].as_array().unwrap().clone()
    };
    let find = |findings: &[Value], check: &str| findings.iter().find(|finding| finding["check"] == check).cloned();
    let stores = "INSERT INTO dispensaries (id, name, slug, platform, platform_dispensary_id, crawl_enabled) VALUES
                    (1, 'Leaf', 'leaf', 'dutchie', 'a', true), (2, 'Fern', 'fern', 'dutchie', NULL, true), (3, 'Moss', 'moss', 'dutchie', 'c', true)";
    database.raw.batch_execute(stores).await.unwrap();
    assert!(find(&doctor().await, "pauses").is_none(), "nothing is paused");

    let empty = "INSERT INTO suspicious_menus (dispensary_id, product_count, fetched_at)
                 SELECT 3, 0, now() - n * interval '1 hour' FROM generate_series(1, 3) n";
    database.raw.batch_execute(empty).await.unwrap();
    for (scope, target) in [("all", None), ("role", Some("product_refresh"))] {
        let mut pause = drover();
        pause.args(["pause", scope]).args(target).args(["--reason", "new parser"]).env("DATABASE_URL", &database.url);
        assert!(ended(&mut pause).await.status.success());
    }
    let findings = doctor().await;
    let expect = |check: &str, detail: &str, remedy: &str| {
        let finding = find(&findings, check).unwrap_or_else(|| panic!("{check}: {findings:?}"));
        assert_eq!(finding["result"], "advice", "{finding}");
        assert!(finding["detail"].as_str().unwrap().contains(detail), "{finding}");
        assert!(finding["remedy"].as_str().unwrap().contains(remedy), "{finding}");
    };
    expect(
        "pauses",
        "everything is paused (new parser); role product_refresh is paused",
        "`drover resume all` or `drover resume role product_refresh`",
    );
    expect("store menus", "3 Moss", "drover stores accept-empty 3");
    expect("menu ids", "2 Fern", "drover stores edit 2 --slug");
    assert!(find(&findings, "stores").is_none(), "{findings:?}");
}

#[tokio::test]
async fn a_command_that_reads_creates_nothing_in_a_misspelled_directory() {
    let dir = server_dir();
    let missing = dir.path().join("nodir");
    for args in [&["stores", "list"][..], &["tasks", "show", "1"], &["proxies", "check"], &["schedules", "list"]] {
        let output = ended(drover().args(args).arg("--dir").arg(&missing).env_remove("DATABASE_URL")).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
        assert!(said.contains("there is no drover data in") && said.contains("--dir"), "{said}");
    }
    assert!(!missing.exists());
}

#[tokio::test]
async fn an_operator_adds_the_hash_that_an_alarm_asks_for() {
    let database = database().await;
    let run = async |args: &[&str]| {
        ended(drover().args(["platforms", "hashes"]).args(args).env("DATABASE_URL", &database.url)).await
    };
    let hash = "0123456789abcdef".repeat(4);
    let added = run(&["add", "FilteredProducts", &hash.to_uppercase(), "--json"]).await;
    assert_eq!(added.status.code(), Some(0), "{}", String::from_utf8_lossy(&added.stderr));
    let expected = serde_json::json!({"platform": "dutchie", "operation": "FilteredProducts", "hash": hash});
    assert_eq!(json_lines(&added.stdout), [expected]);

    let listed = run(&["list", "--json"]).await;
    let row = &json_lines(&listed.stdout)[0]["hashes"][0];
    assert_eq!((&row["hash"], &row["last_not_found"]), (&hash.clone().into(), &Value::Null));
    let table = run(&["list"]).await;
    assert!(String::from_utf8_lossy(&table.stdout).contains(&hash));

    for (args, code, message) in [
        (["FilteredProducts", hash.as_str()], 4, "known already"),
        (["FilteredProducts", "abc"], 2, "64 hex digits"),
        (["FilteredProdcuts", hash.as_str()], 2, "the operations are FilteredProducts, ConsumerDispensaries"),
    ] {
        let refused = run(&["add", args[0], args[1]]).await;
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(code), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

/// Log of a pod of two workers in this format from its start to its end.
async fn log_of_a_pod(farm: &Farm, format: &str) -> String {
    let mut pod = Child::spawn(farm.drover(&["worker"]).env("DROVER__LOG__FORMAT", format));
    let registered = "SELECT count(*) FROM worker_registry WHERE status <> 'offline'";
    farm.until_counted("both workers are registered", registered, 2).await;
    pod.signal(Signal::SIGTERM);
    assert!(pod.ended(PATIENCE).await.success());
    pod.stderr().join("\n")
}

#[tokio::test]
async fn the_log_names_a_run_by_its_workers_name_beside_the_id() {
    let farm = Farm::with_stores(1).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut worker = Child::spawn(farm.drover(&["worker"]).env("DROVER__LOG__FORMAT", "json"));
    farm.until_crawled().await;
    worker.signal(Signal::SIGTERM);
    assert!(worker.ended(PATIENCE).await.success());
    let lines: Vec<Value> = worker.stderr().iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let runs: Vec<&Value> = lines.iter().filter(|line| line["fence"].is_i64()).collect();
    assert!(!runs.is_empty());
    for run in runs {
        let name = run["worker_name"].as_str().unwrap_or_default();
        assert!(name.starts_with("Aethelgard-") && run["worker"].as_str().unwrap().starts_with("worker-"), "{run}");
    }
}

#[tokio::test]
async fn people_read_one_line_a_pod_and_programs_one_a_worker() {
    let farm = Farm::with_stores(1).await;
    let count = |log: &str, text: &str| log.matches(text).count();
    for (format, workers) in [("pretty", 0), ("json", 2)] {
        let log = log_of_a_pod(&farm, format).await;
        assert_eq!(count(&log, "Starting pod"), 1, "{log}");
        assert_eq!(count(&log, "Starting worker worker-any-"), workers, "{log}");
    }
}
