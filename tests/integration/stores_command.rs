//! `drover stores` and `drover payload`, as people run them.

use std::process::Output;

use rstest::rstest;
use serde_json::Value;

use testkit::{Child, Farm, PATIENCE, TestDatabase, drover, until};

async fn run(database: &TestDatabase, args: &[&str]) -> Output {
    drover().env("DATABASE_URL", &database.url).args(args).output().await.unwrap()
}

fn stdout(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn a_store_is_added_once_and_listed() {
    let database = testkit::database().await;
    let add = ["stores", "add", "--name", "A Shop", "--platform-id", "0123", "--state", "az", "--json"];

    let added = stdout(&run(&database, &add).await);
    assert_eq!(added["entry_point_task_id"], Value::Null);
    assert_eq!(run(&database, &add).await.status.code(), Some(4));

    let listed = stdout(&run(&database, &["stores", "list", "--json"]).await);
    let listed = listed["stores"].as_array().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["state"], &listed[0]["crawl_enabled"]), (&"AZ".into(), &true.into()));
}

#[rstest]
#[case::its_slug(["--slug", "a-shop"], ["--slug", "a-shop"])]
#[case::its_slug_in_an_address(["--slug", "a-shop"], ["--menu-url", "https://dutchie.com/stores/a-shop"])]
#[case::its_address(["--menu-url", "https://dutchie.com/dispensary/a-shop"], ["--menu-url", "https://dutchie.com/stores/a-shop"])]
#[case::its_address_as_a_slug(["--menu-url", "https://dutchie.com/dispensary/a-shop"], ["--slug", "a-shop"])]
#[tokio::test]
async fn a_store_known_without_an_id_is_not_added_with_one(#[case] known: [&str; 2], #[case] given: [&str; 2]) {
    let database = testkit::database().await;
    let add =
        async |more: &[&str]| run(&database, &[["stores", "add", "--name", "A Shop"].as_slice(), more].concat()).await;
    assert!(add(&known).await.status.success());
    let doubled = add(&[["--platform-id", "0123"], given].concat()).await;
    assert_eq!(doubled.status.code(), Some(4), "{doubled:?}");
}

#[tokio::test]
async fn stores_with_wrong_slugs_all_need_a_menu_id() {
    const STORES: i64 = 30;
    let farm = Farm::with_stores(1).await;
    let list = tempfile::NamedTempFile::new().unwrap();
    let lines: String = (1..=STORES).map(|n| format!("Store {n},no-such-store-{n}\n")).collect();
    std::fs::write(list.path(), format!("name,slug\n{lines}")).unwrap();
    let imported = farm.drover(&["stores", "import", list.path().to_str().unwrap()]).output().await.unwrap();
    assert!(imported.status.success(), "{imported:?}");
    let worker = Child::spawn(&mut farm.drover(&["worker"])).allow_errors(&["no store at"]);
    let failed = "SELECT count(*) FROM worker_tasks WHERE role = 'entry_point_discovery' AND status = 'failed'";
    farm.until_counted("each was looked up", failed, STORES).await;
    drop(worker);
    let listed =
        stdout(&farm.drover(&["stores", "list", "--status", "needs_menu_id", "--json"]).output().await.unwrap());
    assert_eq!(listed["stores"].as_array().unwrap().len(), 30);
}

#[tokio::test]
async fn a_store_without_an_id_gets_the_task_that_finds_it() {
    let database = testkit::database().await;
    let url = "https://dutchie.com/embedded-menu/deeply-rooted";
    let added =
        stdout(&run(&database, &["stores", "add", "--name", "Deeply Rooted", "--menu-url", url, "--json"]).await);
    let sql = "SELECT id, role, dispensary_id, ready FROM worker_tasks";
    let task = database.raw.query_one(sql, &[]).await.unwrap();
    assert_eq!(task.get::<_, i64>("id"), added["entry_point_task_id"].as_i64().unwrap());
    assert_eq!(task.get::<_, &str>("role"), "entry_point_discovery");
    assert_eq!(task.get::<_, i64>("dispensary_id"), added["id"].as_i64().unwrap());
    assert!(task.get::<_, bool>("ready"));
}

#[tokio::test]
async fn a_list_with_faults_imports_nothing_and_names_them_all() {
    let database = testkit::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    std::fs::write(&file, "name,platform_dispensary_id,state\nA,1,AZ\nB,2,Arizona\n,3,AZ\n").unwrap();

    let refused = run(&database, &["stores", "import", file.to_str().unwrap()]).await;

    assert_eq!(refused.status.code(), Some(2));
    let says = String::from_utf8_lossy(&refused.stderr);
    assert!(says.contains("stores.csv line 3: state") && says.contains("stores.csv line 4: name is missing"), "{says}");
    let stores = database.raw.query_one("SELECT count(*) FROM dispensaries", &[]).await.unwrap();
    assert_eq!(stores.get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_menu_url_on_a_host_that_the_platform_does_not_know_is_refused_with_the_remedy() {
    let database = testkit::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    let list = "name,platform,menu_url,api_host\n\
                Its platform,,https://www.dutchie.com/stores/a,\n\
                Its own host,,https://menu.example.com/stores/b,menu.example.com:8443\n\
                Staging,,https://staging.example:8443/stores/c,\n\
                Not looked up,dutchie_plus,https://shop.example.com/menu/d,\n\
                Foreign,,https://shop.example.com/stores/e,\n\
                Almost,,https://notdutchie.com/stores/f,\n";
    std::fs::write(&file, list).unwrap();
    let staging = ("DROVER__PLATFORM__DUTCHIE__BASE_URL", "https://staging.example:8443");
    let refused = drover()
        .env("DATABASE_URL", &database.url)
        .env(staging.0, staging.1)
        .args(["stores", "import", file.to_str().unwrap()])
        .output()
        .await
        .unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let says = String::from_utf8_lossy(&refused.stderr);
    let fault = "stores.csv line 6: menu_url https://shop.example.com/stores/e is on shop.example.com, which dutchie does not know (it knows \
                 dutchie.com, staging.example): ";
    assert!(says.contains(fault) && says.contains("platform_dispensary_id") && says.contains("slug"), "{says}");
    assert!(
        says.contains("line 7: ") && !["line 2", "line 3", "line 4", "line 5"].iter().any(|line| says.contains(line)),
        "{says}"
    );
    let added =
        run(&database, &["stores", "add", "--name", "A", "--menu-url", "https://shop.example.com/stores/e"]).await;
    assert_eq!(added.status.code(), Some(2), "{added:?}");
}

#[tokio::test]
async fn a_list_is_imported_and_again_without_doubling() {
    let database = testkit::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    std::fs::write(&file, "name,platform_dispensary_id,slug\nA,1,\nB,,b-slug\n").unwrap();
    let import = ["stores", "import", file.to_str().unwrap(), "--json"];

    assert_eq!(stdout(&run(&database, &import).await)["imported"].as_array().unwrap().len(), 2);
    let again = stdout(&run(&database, &import).await);
    assert_eq!((again["imported"].as_array().unwrap().len(), &again["known"]), (0, &2.into()));
}

#[tokio::test]
async fn a_store_is_known_however_its_name_is_spelt() {
    let database = testkit::database().await;
    let add =
        async |key: &str, name: &str| run(&database, &["stores", "add", "--name", "A", key, name, "--json"]).await;
    stdout(&add("--menu-url", "https://dutchie.com/dispensary/Deeply-Rooted").await);
    stdout(&add("--slug", "Other-Shop").await);

    for (key, name) in [
        ("--slug", "deeply-rooted"),
        ("--menu-url", "https://dutchie.com/stores/deeply-ROOTED"),
        ("--slug", "other-shop"),
        ("--menu-url", "https://dutchie.com/stores/other-shop"),
    ] {
        assert_eq!(add(key, name).await.status.code(), Some(4), "{key} {name}");
    }
}

#[tokio::test]
async fn a_payload_that_does_not_exist_is_not_found() {
    let database = testkit::database().await;
    assert_eq!(run(&database, &["payload", "show", "7"]).await.status.code(), Some(3));
}

/// Far more than fit into the deadline of a transaction if each were compared with each.
const MANY: usize = 3_000;

#[tokio::test]
async fn a_long_list_of_menu_addresses_is_imported_once() {
    let database = testkit::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    let lines = (0..MANY).map(|n| format!("Shop {n},https://dutchie.com/dispensary/shop-{n}\n"));
    // one of them twice, by another address
    let list =
        format!("name,menu_url\n{}Again,https://dutchie.com/embedded-menu/shop-7/?x=1\n", lines.collect::<String>());
    std::fs::write(&file, list).unwrap();
    let import = ["stores", "import", file.to_str().unwrap(), "--json"];

    let first = stdout(&run(&database, &import).await);
    assert_eq!((first["imported"].as_array().unwrap().len(), &first["known"]), (MANY, &1.into()));
    let looked_up = "SELECT count(*) FROM worker_tasks WHERE role = 'entry_point_discovery' AND ready";
    assert_eq!(database.raw.query_one(looked_up, &[]).await.unwrap().get::<_, i64>(0), MANY as i64);

    let again = stdout(&run(&database, &import).await);
    assert_eq!((again["imported"].as_array().unwrap().len(), &again["known"]), (0, &(MANY + 1).into()));

    let renamed = "UPDATE dispensaries SET menu_url = replace(menu_url, 'shop-', 'store-')";
    database.raw.batch_execute(renamed).await.unwrap();
    let again = stdout(&run(&database, &import).await);
    assert_eq!((again["renamed"].as_array().unwrap().len(), &again["known"]), (MANY + 1, &(MANY + 1).into()));
}

/// Size of one part of an import.
const PART: usize = 1_000;

/// A list of `stores` stores.
fn long_list(stores: usize) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    let lines: String = (0..stores).map(|n| format!("Shop {n},id-{n}\n")).collect();
    std::fs::write(&file, format!("name,platform_dispensary_id\n{lines}")).unwrap();
    (dir, file)
}

async fn stores(database: &TestDatabase) -> usize {
    let count = database.raw.query_one("SELECT count(*) FROM dispensaries", &[]).await.unwrap();
    usize::try_from(count.get::<_, i64>(0)).unwrap()
}

#[tokio::test]
async fn bad_lines_go_to_a_file_that_can_be_corrected_and_imported() {
    let database = testkit::database().await;
    let dir = tempfile::tempdir().unwrap();
    let (list, bad) = (dir.path().join("stores.csv"), dir.path().join("bad.csv"));
    let text = "name,platform_dispensary_id,state,api_host\nA,1,AZ,\nB,2,Arizona,\nC,3,AZ,10.0.0.1\nD,1,AZ,\nE,5,AZ,\n";
    std::fs::write(&list, text).unwrap();
    let import = ["stores", "import", list.to_str().unwrap(), "--skip-bad", bad.to_str().unwrap(), "--json"];

    let imported = run(&database, &import).await;
    assert_eq!(imported.status.code(), Some(5), "{imported:?}");
    let said: Value = serde_json::from_slice(&imported.stdout).unwrap();
    assert_eq!((said["imported"].as_array().unwrap().len(), &said["refused"]), (2, &3.into()));
    let refused = std::fs::read_to_string(&bad).unwrap();
    let expected = "name,platform_dispensary_id,state,api_host\n\
                    # line 3: state 'ARIZONA' is not two letters such as AZ\nB,2,Arizona,\n\
                    # line 4: api_host 10.0.0.1 is not a public host: correct it, or add it to http.host_allowlist\nC,3,AZ,10.0.0.1\n\
                    # line 5: platform_dispensary_id '1' is already in line 2\nD,1,AZ,\n";
    assert_eq!(refused, expected);

    std::fs::write(&bad, refused.replace("Arizona", "AZ").replace("10.0.0.1\n", "\n").replace("D,1", "D,4")).unwrap();
    let corrected = stdout(&run(&database, &["stores", "import", bad.to_str().unwrap(), "--json"]).await);
    assert_eq!(corrected["imported"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_list_itself_is_never_overwritten_by_its_bad_lines() {
    let database = testkit::database().await;
    let (_dir, file) = long_list(1);
    let list = file.to_str().unwrap();
    assert_eq!(run(&database, &["stores", "import", list, "--skip-bad", list]).await.status.code(), Some(2));
    assert!(std::fs::read_to_string(&file).unwrap().contains("Shop 0"));
}

#[tokio::test]
async fn an_import_that_was_killed_is_repeated_without_doubling() {
    let database = testkit::database().await;
    let (_dir, file) = long_list(2 * PART + 500);
    let import = ["stores", "import", file.to_str().unwrap(), "--json"];
    let mut command = drover();
    command.env("DATABASE_URL", &database.url).args(import).env("FAILPOINTS", "stores.import_part=1*off->pause");
    let mut killed = Child::spawn(&mut command);
    until("the first part is there", PATIENCE, async || stores(&database).await == PART).await;
    killed.kill().await.unwrap();

    let again = stdout(&run(&database, &import).await);
    assert_eq!((again["imported"].as_array().unwrap().len(), &again["known"]), (PART + 500, &PART.into()));
    assert_eq!(stores(&database).await, 2 * PART + 500);
}

#[tokio::test]
async fn ctrl_c_ends_an_import_after_its_part_and_says_how_many_remain() {
    let database = testkit::database().await;
    let (_dir, file) = long_list(2 * PART + 500);
    let mut command = drover();
    command.env("DATABASE_URL", &database.url).args(["stores", "import", file.to_str().unwrap(), "--json"]);
    let mut stopped = Child::spawn(command.env("FAILPOINTS", "stores.import_part=1*off->sleep(3000)"));
    // on a busy machine, the second one may be there as well
    until("the first part is there", PATIENCE, async || stores(&database).await >= PART).await;
    stopped.signal(nix::sys::signal::Signal::SIGINT);

    assert_eq!(stopped.ended(PATIENCE).await.code(), Some(130));
    let said: Value = serde_json::from_str(&stopped.stdout().concat()).unwrap();
    let there = stores(&database).await;
    assert_eq!(said["imported"].as_array().unwrap().len(), there);
    assert_eq!(said["remaining"], 2 * PART + 500 - there);
    assert!(there < 2 * PART + 500);
}

#[tokio::test]
async fn stores_are_grouped_and_listed_by_group() {
    let database = testkit::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    std::fs::write(&file, "name,platform_dispensary_id,groups\nA,1,Rivals;az\nB,2,\nC,3,a b\n").unwrap();
    let imported = stdout(&run(&database, &["stores", "import", file.to_str().unwrap(), "--json"]).await);
    let id = |n: usize| imported["imported"][n]["id"].to_string();

    let tagged = stdout(&run(&database, &["stores", "tag", "RIVALS", &id(0), &id(1), "--json"]).await);
    assert_eq!((&tagged["group"], &tagged["changed"]), (&"rivals".into(), &1.into()));
    let names = async |group: &str| {
        let listed = stdout(&run(&database, &["stores", "list", "--group", group, "--json"]).await);
        listed["stores"]
            .as_array()
            .unwrap()
            .iter()
            .map(|store| store["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!((names("rivals").await, names("b").await), (vec!["A".to_owned(), "B".to_owned()], vec!["C".to_owned()]));
    stdout(&run(&database, &["stores", "untag", "rivals", &id(0), "--json"]).await);
    assert_eq!(names("rivals").await, ["B"]);
    assert_eq!(run(&database, &["stores", "tag", "rivals", "777"]).await.status.code(), Some(3));
    assert_eq!(run(&database, &["stores", "tag", "no,name", "1"]).await.status.code(), Some(2));
    let far = run(&database, &["stores", "list", "--group", "rival"]).await;
    assert!(String::from_utf8_lossy(&far.stderr).contains("did you mean 'rivals'?"));

    for n in 0..20 {
        run(&database, &["stores", "tag", &format!("g{n}"), &id(1)]).await;
    }
    let full = run(&database, &["stores", "tag", "g20", &id(1)]).await;
    assert_eq!(full.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&full.stderr).contains("take it out of one first"));
}

#[tokio::test]
async fn a_list_that_is_imported_again_puts_known_stores_into_its_groups_and_takes_them_out_of_none() {
    let database = testkit::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    let import = async |list: &str| {
        std::fs::write(&file, list).unwrap();
        stdout(&run(&database, &["stores", "import", file.to_str().unwrap(), "--json"]).await)
    };
    import("name,platform_dispensary_id,groups\nA,1,rivals\nB,2,\n").await;
    let again = import("name,platform_dispensary_id,groups\nA,1,az\nB,2,\nC,3,az\n").await;
    assert_eq!((&again["known"], &again["grouped"]), (&2.into(), &1.into()));
    assert_eq!(import("name,platform_dispensary_id,groups\nA,1,az\n").await["grouped"], 0, "it is in them already");

    let many: Vec<String> = (0..19).map(|n| format!("g{n}")).collect();
    let list = format!("name,platform_dispensary_id,groups\nA,1,{}\nB,2,az\n", many.join(";"));
    std::fs::write(&file, list).unwrap();
    let output = run(&database, &["stores", "import", file.to_str().unwrap(), "--json"]).await;
    let full: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &full["full"], &full["grouped"]), (Some(5), &serde_json::json!([1]), &1.into()));

    let listed = stdout(&run(&database, &["stores", "list", "--json"]).await);
    let groups: Vec<String> =
        listed["stores"].as_array().unwrap().iter().map(|store| store["groups"].to_string()).collect();
    assert_eq!(groups, [r#"["rivals","az"]"#, r#"["az"]"#, r#"["az"]"#]);
}

#[rstest]
#[case::its_slug("UPDATE dispensaries SET slug = 'right'", "wrong")]
#[case::its_slug_by_a_crawl("UPDATE dispensaries SET slug = 'right', platform_dispensary_id = '7'", "wrong")]
#[case::its_address("UPDATE dispensaries SET slug = NULL, menu_url = 'https://dutchie.com/stores/right'", "wrong")]
#[case::twice("UPDATE dispensaries SET slug = 'better'; UPDATE dispensaries SET slug = 'right'", "better")]
#[tokio::test]
async fn a_store_is_known_by_its_former_slug(#[case] renamed: &str, #[case] former: &str) {
    let database = testkit::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    let import = async |slug: &str, more: &[&str]| {
        std::fs::write(&file, format!("name,slug\nA,{slug}\n")).unwrap();
        run(&database, &[&["stores", "import", file.to_str().unwrap()], more].concat()).await
    };
    stdout(&import("Wrong", &["--json"]).await);
    database.raw.batch_execute(renamed).await.unwrap();

    let again = stdout(&import(former, &["--json"]).await);
    assert_eq!((again["imported"].as_array().unwrap().len(), &again["known"]), (0, &1.into()));
    let expected = serde_json::json!([{"id": 1, "former_slug": former, "slug": "right"}]);
    assert_eq!(again["renamed"], expected);
    let said = String::from_utf8(import(former, &[]).await.stdout).unwrap();
    assert!(said.contains(&format!("store 1 was {former} and has the slug right now; to add another")), "{said}");
    assert_eq!(stdout(&import("right", &["--json"]).await)["renamed"], serde_json::json!([]));

    let add = async |more: &[&str]| {
        run(&database, &[&["stores", "add", "--name", "B", "--slug", former], more].concat()).await
    };
    let refused = add(&[]).await;
    assert_eq!(refused.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("give its platform id"), "{refused:?}");
    assert!(add(&["--platform-id", "8"]).await.status.success());
    let said = String::from_utf8_lossy(&add(&[]).await.stderr).into_owned();
    assert!(said.contains("its id is 2"), "the slug of a store goes before one that a store had: {said}");
}

#[tokio::test]
async fn a_store_remembers_its_last_twenty_slugs() {
    let database = testkit::database().await;
    stdout(&run(&database, &["stores", "add", "--name", "A", "--slug", "s0", "--json"]).await);
    for n in 1..=25 {
        database.raw.execute(&format!("UPDATE dispensaries SET slug = 's{n}'"), &[]).await.unwrap();
    }
    let kept = "SELECT array_agg(slug ORDER BY replaced_at) FROM former_slugs";
    let kept: Vec<String> = database.raw.query_one(kept, &[]).await.unwrap().get(0);
    assert_eq!(kept, (5..25).map(|n| format!("s{n}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_schedule_of_ones_own_is_added_changed_and_removed() {
    let database = testkit::database().await;
    let schedules = async |args: &[&str]| run(&database, &[&["schedules"], args, &["--json"]].concat()).await;
    let added = stdout(&schedules(&["add", "rivals", "--group", "rivals", "--every", "30m"]).await);
    assert_eq!(
        (&added["group_name"], &added["interval_hours"], &added["role"]),
        (&"rivals".into(), &0.5.into(), &"payload_fetch".into())
    );
    assert_eq!(schedules(&["add", "rivals", "--every", "1h"]).await.status.code(), Some(4));
    assert_eq!(schedules(&["add", "x"]).await.status.code(), Some(2), "it must say when");
    assert_eq!(schedules(&["add", "x", "--cron", "often"]).await.status.code(), Some(2));
    let wrong = [
        (&["--every", "1s"][..], "expected a duration from 4s to 366d"),
        (&["--every", "1d", "--role", "store_discovery", "--platform", "dutchie_plus"], "dutchie_plus lists no stores"),
    ];
    for (flags, told) in wrong {
        let refused = schedules(&[&["add", "x"], flags].concat()).await;
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(told), "{refused:?}");
    }
    assert_eq!(added["notice"], Value::Null);
    for when in [["--every", "5s"], ["--cron", "*/20 * * * * *"]] {
        let often = run(&database, &[&["schedules", "add", when[1]], &when[..]].concat()).await;
        let said = String::from_utf8_lossy(&often.stderr);
        assert!(often.status.success() && said.contains("looks every 60s (queue.schedule_tick)"), "{often:?}");
    }
    let warning =
        "group 'rivals' has no stores, and no groups exist yet. Add stores with `drover stores tag rivals ID…`";
    assert_eq!(added["warning"], warning);
    assert_eq!(
        schedules(&["add", "x", "--role", "analytics_refresh", "--group", "a", "--every", "1h"]).await.status.code(),
        Some(2)
    );

    let daily = ["set", "rivals", "--cron", "0 6 * * 1-5", "--tz", "America/Phoenix"];
    let daily = run(&database, &[&["schedules"], &daily[..]].concat()).await;
    let shown = run(&database, &["schedules", "show", "rivals"]).await;
    for output in [daily, shown] {
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.matches(" 13:00:00 UTC = ").count(), 3, "{output:?}");
        assert!(text.contains("0 6 * * 1-5 (America/Phoenix)") && text.contains(" 06:00:00 -07:00"), "{text}");
    }
    let refused = schedules(&["set", "rivals", "--tz", "Arizona"]).await;
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--tz: "), "{refused:?}");

    let edited =
        stdout(&schedules(&["edit", "rivals", "--cron", "0 0 6 * * *", "--no-group", "--enabled", "false"]).await);
    let now = (&edited["group_name"], &edited["interval_hours"], &edited["cron"], &edited["enabled"]);
    assert_eq!(now, (&Value::Null, &Value::Null, &"0 0 6 * * *".into(), &false.into()));
    assert_eq!(schedules(&["edit", "rivals"]).await.status.code(), Some(2));
    assert_eq!(schedules(&["edit", "nobody", "--enabled", "true"]).await.status.code(), Some(3));
    stdout(&schedules(&["remove", "rivals"]).await);
    assert_eq!(schedules(&["remove", "rivals"]).await.status.code(), Some(3));
}

#[tokio::test]
async fn a_store_is_crawled_by_its_name_and_an_ambiguous_one_is_refused_with_the_candidates() {
    let database = testkit::database().await;
    let sql = "INSERT INTO dispensaries (id, name, slug, state, platform_dispensary_id) VALUES
        (7, 'Store Three', 'three', 'AZ', 'a'), (8, 'Leaf', 'leaf-az', 'AZ', 'b'), (9, 'Leaf', 'leaf-nv', 'NV', 'c')";
    database.raw.batch_execute(sql).await.unwrap();
    let made =
        stdout(&run(&database, &["enqueue", "--role", "payload_fetch", "--store", "store three", "--json"]).await);
    assert_eq!(made["dispensary_id"], 7);
    let crawled = run(&database, &["stores", "crawl", "leaf-az", "9", "--json"]).await;
    assert!(crawled.status.success(), "{}", String::from_utf8_lossy(&crawled.stderr));
    let waits = "SELECT array_agg(dispensary_id ORDER BY dispensary_id) FROM worker_tasks WHERE role = 'payload_fetch' AND priority = 20";
    let stores: Vec<i64> = database.raw.query_one(waits, &[]).await.unwrap().get(0);
    assert_eq!(stores, [8, 9]);
    let rows = "INSERT INTO notification_endpoints (name, kind, target) VALUES ('phone', 'ntfy', 'https://ntfy.example/mine');
                UPDATE worker_tasks SET schedule_id = (SELECT id FROM task_schedules ORDER BY id LIMIT 1) WHERE dispensary_id = 8";
    database.raw.batch_execute(rows).await.unwrap();
    // wherever a command takes the id of a thing that has a name
    for args in [
        &["stores", "edit", "Store Three", "--city", "Tempe"][..],
        &["stores", "tag", "rivals", "three", "leaf-nv"],
        &["stores", "disable", "STORE THREE"],
        &["stores", "enable", "three"],
        &["pause", "store", "three", "--reason", "x"],
        &["resume", "store", "store three"],
        &["images", "backfill", "--dry-run", "--store", "three"],
        &["payload", "replay", "--dry-run", "--store", "three", "leaf-az"],
        &["payload", "list", "--store", "three"],
        &["products", "search", "--store", "three"],
        &["products", "export", "--store", "three"],
        &["quality", "list", "--store", "three"],
        &["notifications", "list", "--endpoint", "phone"],
        &["media", "show", "endpoints", "phone"],
    ] {
        let done = run(&database, args).await;
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let tasks = async |args: &[&str]| stdout(&run(&database, &[&["tasks", "list", "--json"], args].concat()).await);
    for args in [["--store", "leaf-az"], ["--store", "8"]] {
        let of_store = tasks(&args).await;
        assert_eq!(of_store["tasks"].as_array().unwrap().len(), 1, "{of_store}");
    }
    for (name, said) in [
        ("Leaf", "'Leaf' is ambiguous: give the id of one of 8 Leaf (leaf-az, AZ), 9 Leaf (leaf-nv, NV)"),
        ("Moss", "no store has the slug or name 'Moss'"),
    ] {
        let refused = run(&database, &["stores", "crawl", "three", name]).await;
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && text.contains(said), "{text}");
    }
    let raised: i64 = database
        .raw
        .query_one("SELECT count(*) FROM worker_tasks WHERE dispensary_id = 7 AND priority = 20", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(raised, 0, "a wrong name makes no task at all");
}
