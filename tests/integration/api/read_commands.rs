//! `drover products`, `payload list`, `payload diff` and `stores`, as people run them: on the database
//! itself, and on a server by `--url`. The server refuses data that the API does not serve.

use std::collections::BTreeSet;
use std::process::Output;

use rstest::rstest;
use serde_json::{Value, json};

use super::reads::{crawled, selling};
use super::server::Server;
use testkit::drover;

/// API that a command uses.
#[derive(Clone, Copy)]
pub enum Api {
    InProcess,
    OfServer,
}

use Api::{InProcess, OfServer};

pub async fn run(server: &Server, api: Api, args: &[&str]) -> Output {
    let mut command = drover();
    match api {
        InProcess => command.env("DATABASE_URL", &server.database.url),
        OfServer => command.args(["--url", &format!("http://{}", server.address)]),
    };
    command.env("DROVER__STORAGE__ROOT", server.storage.path()).args(args).output().await.unwrap()
}

#[track_caller]
pub fn text(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn refused(output: &Output, code: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    stderr
}

#[tokio::test]
async fn a_products_price_is_followed_from_the_command_line_alone() {
    let server = Server::start().await;
    let (_, ids) = selling(&server).await;
    let bundle = "UPDATE store_product_variants SET bundle_quantity = 2, bundle_total = 1700, bundle_per_g = 850000
                   WHERE store_product_id = $1 AND option_label = '1g'";
    server.database.raw.execute(bundle, &[&ids[0]]).await.unwrap();
    let cases: [(&str, Api); 2] = [("in process", InProcess), ("of a server", OfServer)];
    for (case, api) in cases {
        println!("{case}");
        let run = async |args: &[&str]| run(&server, api, args).await;
        let table = text(&run(&["products", "search", "blue", "ledg", "--state", "az", "--max-price", "10"]).await);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 2, "{table}");
        assert!(
            lines[1].contains("Blue Ledger 1") && lines[1].contains("$10.00") && lines[1].contains("a-shop"),
            "{table}"
        );

        let dearest =
            text(&run(&["products", "search", "--state", "az", "--sort", "price_desc", "--limit", "1"]).await);
        assert!(dearest.lines().count() == 2 && dearest.contains("Blue Ledger 2"), "{dearest}");

        let id = ids[0].to_string();
        let shown = text(&run(&["products", "show", &id]).await);
        assert!(shown.contains(&format!("product   {id} Blue Ledger 1\nbrand     Granite\n")), "{shown}");
        assert!(shown.contains("option    1g  $10.00") && shown.contains("  2 for $17.00: $8.50/g"), "{shown}");

        let history = text(&run(&["products", "history", &id]).await);
        let prices: Vec<&str> = history.lines().skip(1).filter_map(|line| line.split("  ").nth(1)).collect();
        assert_eq!(prices, ["$10.03", "$10.02", "$10.01"], "{history}");
        let of_option = text(&run(&["products", "history", &id, "--option", "1g"]).await);
        assert!(of_option.lines().count() == 2 && of_option.contains("$10.00"), "{of_option}");

        let answer: Value = serde_json::from_str(&text(&run(&["products", "search", "blue", "--json"]).await)).unwrap();
        assert_eq!(answer, server.get("/api/products/search?q=blue&limit=20").await.expect(200), "the API's answer");
    }
}

#[tokio::test]
async fn all_products_are_exported_page_by_page_with_their_prices() {
    let server = Server::start().await;
    let (store, _) = selling(&server).await;
    let more = "INSERT INTO store_products (dispensary_id, provider, provider_product_id, name_raw, price_rec, is_on_special, quantity_censored, is_in_stock,
                                            stock_status, first_seen_at, last_seen_at)
                SELECT d.id, 'dutchie', 'x' || n, CASE n WHEN 9 THEN '=1+2' ELSE 'Granite, \"' || n || '\"' END, 1200, false, false, true, 'in_stock', now(), now()
                  FROM dispensaries d, generate_series(1, 501) n";
    server.add_store("b-shop").await;
    server.database.raw.batch_execute(more).await.unwrap();
    let cases: [(&str, Api); 2] = [("in process", InProcess), ("of a server", OfServer)];
    for (case, api) in cases {
        println!("{case}");
        let run = async |args: &[&str]| run(&server, api, args).await;

        let csv = text(&run(&["products", "export"]).await);
        let (headers, rows) = csv.split_once('\n').unwrap();
        let headers: BTreeSet<&str> = headers.split(',').collect();
        let ids: BTreeSet<&str> = rows.lines().filter_map(|row| row.split(',').next()).collect();
        assert_eq!((rows.lines().count(), ids.len()), (2 + 2 * 501, 2 + 2 * 501), "each once");
        let quoted = rows.lines().filter(|row| row.contains(",dutchie,x7,,\"Granite, \"\"7\"\"\",,,,,1200,1200,"));
        assert_eq!(quoted.count(), 2, "{csv}");
        assert_eq!(rows.matches(",dutchie,x9,,'=1+2,").count(), 2, "a spreadsheet reads no name as a formula");

        let id = store.to_string();
        for args in [
            &["products", "export", "--store", &id, "--format", "json"][..],
            &["products", "export", "--store", &id, "--json"],
        ] {
            let products: Value = serde_json::from_str(&text(&run(args).await)).unwrap();
            let products = products.as_array().unwrap();
            assert_eq!(products.len(), 2 + 501);
            let names: BTreeSet<&str> = products[0].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(names, headers, "the columns are those of the API");
        }

        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("products.csv");
        let written = text(&run(&["products", "export", "--out", file.to_str().unwrap()]).await);
        assert_eq!(written, format!("1,004 products written to {}\n", file.display()));
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), csv.lines().count());
        let absent = dir.path().join("none.csv");
        let nowhere = dir.path().join("none").join("products.csv");
        let stderr = refused(&run(&["products", "export", "--out", nowhere.to_str().unwrap()]).await, 1);
        assert!(
            stderr.contains(&format!("cannot write {}", nowhere.display())) && !stderr.contains(".export-"),
            "{stderr}"
        );
        let stderr =
            refused(&run(&["products", "export", "--store", "4711", "--out", absent.to_str().unwrap()]).await, 3);
        assert!(stderr.contains("4711") && std::fs::read_dir(dir.path()).unwrap().count() == 1, "{stderr}");
    }
}

#[tokio::test]
async fn an_interrupted_export_leaves_the_old_file_and_no_other() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("products.csv");
    std::fs::write(&file, "old").unwrap();
    let mut export = drover();
    export
        .args(["products", "export", "--url", &format!("http://{}", silent.local_addr().unwrap()), "--out"])
        .arg(&file);
    let mut child = testkit::Child::spawn(&mut export);
    let _asked = tokio::time::timeout(testkit::PATIENCE, silent.accept()).await.unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old", "it writes into the old file");
    child.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(child.ended(testkit::PATIENCE).await.code(), Some(130));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
}

#[tokio::test]
async fn what_is_found_by_its_spelling_alone_is_said_so() {
    let server = Server::start().await;
    selling(&server).await;
    let found = run(&server, InProcess, &["products", "search", "blue ledgr"]).await;
    assert!(text(&found).contains("Blue Ledger"));
    assert!(String::from_utf8_lossy(&found.stderr).contains("a similar spelling"));
    assert!(!String::from_utf8_lossy(&found.stderr).contains("WARN"), "it is no fault");
    let none = run(&server, InProcess, &["products", "search", "chocolate"]).await;
    assert!(text(&none).lines().count() == 1 && String::from_utf8_lossy(&none.stderr).contains("no product matches"));
}

#[tokio::test]
async fn prices_are_compared_with_another_day_and_by_unit() {
    let server = Server::start().await;
    selling(&server).await;
    let changed = "
        UPDATE dispensaries SET last_complete_at = now();
        UPDATE store_product_variant_history SET price_rec = 1250;
        UPDATE store_product_variants SET rec_per_g = 1000000, unit_basis = 'weight';
        INSERT INTO daily_price_changes (day, store_product_id, changed_at, dispensary_id, nth, size, option_label, brand_key)
        SELECT (now() AT TIME ZONE 'UTC')::date, v.store_product_id, now(), p.dispensary_id, 0, 20, v.option_label, 'granite'
          FROM store_product_variants v JOIN store_products p ON p.id = v.store_product_id";
    server.database.raw.batch_execute(changed).await.unwrap();
    db::analytics::refresh::refresh(&server.database.db).await.unwrap();
    let listed = run(&server, InProcess, &["prices", "by-unit", "--by", "brand"]).await;
    let row = text(&listed).lines().nth(1).unwrap().split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    assert_eq!(row, "Granite 1 100.0 % 1 $10.00/g $10.00/g $10.00/g $10.00/g $10.00/g");
    assert!(String::from_utf8_lossy(&listed.stderr).contains("as of the refresh of"));
    let found =
        run(&server, InProcess, &["prices", "changes", "--since", "30m", "--brand", "granite", "--direction", "drop"])
            .await;
    assert!(text(&found).contains("$12.50  $10.00  -$2.50  -20.0  $10.00/g"), "{}", text(&found));
    let none = run(&server, InProcess, &["prices", "changes", "--state", "ZZ"]).await;
    assert!(String::from_utf8_lossy(&none.stderr).contains("no price differs"));
}

#[tokio::test]
async fn a_refusal_names_the_fault() {
    let server = Server::start().await;
    let cases: [(&[&str], i32, &str); 12] = [
        (&["prices", "changes", "--since", "yesterday"], 2, "--since"),
        (&["prices", "changes", "--direction", "up"], 2, "drop, rise"),
        (&["prices", "by-unit", "--week", "last"], 2, "--week: not a day, such as"),
        (&["products", "show", "4711"], 3, "product 4711"),
        (&["products", "history", "4711"], 3, "product 4711"),
        (&["products", "search", "--sort", "relevance"], 2, "--sort"),
        (&["products", "search", "blue", "--state", "Arizona"], 2, "--state: not two letters"),
        (&["products", "search", "blue", "--min-price", "ten"], 2, "such as 35 or 12.50"),
        (&["products", "history", "1", "--nth", "1"], 2, "--option"),
        (&["payload", "diff", "4711"], 3, "4711"),
        (&["payload", "list", "--platform", "another"], 2, "another"),
        (&["stores", "disable", "4711"], 3, "store 4711"),
    ];
    for (args, code, named) in cases {
        println!("{named}");
        let stderr = refused(&run(&server, InProcess, args).await, code);
        assert!(stderr.contains(named), "{stderr}");
    }
}

#[tokio::test]
async fn payloads_are_listed_and_compared() {
    let server = Server::start().await;
    let (store, ids) = crawled(&server, &[&["a"], &["a", "b"], &["b", "c"]]).await;
    let store = store.to_string();
    let cases: [(&str, Api); 2] = [("in process", InProcess), ("of a server", OfServer)];
    for (case, api) in cases {
        println!("{case}");
        let run = async |args: &[&str]| run(&server, api, args).await;
        let list = text(&run(&["payload", "list", "--store", &store, "--limit", "2"]).await);
        let listed: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(listed, [ids[2].to_string(), ids[1].to_string()], "{list}");

        let diff = text(&run(&["payload", "diff", &store]).await);
        assert!(diff.contains("added 1, removed 1, price changes 0"), "{diff}");
        let lines: Vec<&str> = diff.lines().skip(3).filter_map(|line| line.split("  ").next()).collect();
        assert_eq!(lines, ["added", "removed"], "{diff}");
        let (from, to) = (ids[0].to_string(), ids[1].to_string());
        let older = text(&run(&["payload", "diff", &store, "--from", &from, "--to", &to, "--json"]).await);
        let older: Value = serde_json::from_str(&older).unwrap();
        assert_eq!((&older["diff"]["added"], &older["diff"]["removed"]), (&json!(1), &json!(0)));
    }
}

#[rstest]
#[case::in_process(InProcess)]
#[case::of_a_server(OfServer)]
#[tokio::test]
async fn stores_are_switched_off_and_on(#[case] api: Api) {
    let server = Server::start().await;
    let (first, second) = (server.add_store("first").await.to_string(), server.add_store("second").await.to_string());
    let run = async |args: &[&str]| run(&server, api, args).await;
    let crawled = async |flag: &str| {
        let list = text(&run(&["stores", "list", "--crawled", flag, "--json"]).await);
        let list: Value = serde_json::from_str(&list).unwrap();
        let names = list["stores"].as_array().unwrap().iter().map(|store| store["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    text(&run(&["stores", "disable", &first, &second]).await);
    assert_eq!(
        (crawled("true").await, crawled("false").await),
        (vec![], vec!["first".to_owned(), "second".to_owned()])
    );

    let partly = run(&["stores", "enable", "4711", &first]).await;
    assert!(refused(&partly, 5).contains("store 4711"));
    assert_eq!(crawled("true").await, ["first"], "the others are switched all the same");
}

#[tokio::test]
async fn stores_are_all_listed_however_many_pages_they_fill() {
    let server = Server::start().await;
    let sql = "INSERT INTO dispensaries (name, slug) SELECT 'shop ' || n, 'shop-' || n FROM generate_series(1, 501) n";
    server.database.raw.batch_execute(sql).await.unwrap();
    let list: Value =
        serde_json::from_str(&text(&run(&server, OfServer, &["stores", "list", "--json"]).await)).unwrap();
    assert_eq!((list["stores"].as_array().unwrap().len(), &list["next_cursor"]), (501, &Value::Null));
}

#[rstest]
#[case::in_process(InProcess)]
#[case::of_a_server(OfServer)]
#[tokio::test]
async fn stores_are_added_from_the_command_line_alone(#[case] api: Api) {
    let server = Server::start().await;
    let run = async |args: &[&str]| run(&server, api, args).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    std::fs::write(&file, "name,platform_dispensary_id,slug,state,groups\nLeaf,a1,,AZ,rivals\nFern,,fern,CA,\n")
        .unwrap();
    let import = ["stores", "import", file.to_str().unwrap()];
    assert_eq!(text(&run(&import).await), "stores imported: 2, known already: 0\nlook-ups of menu ids queued: 1\n");
    assert_eq!(text(&run(&import).await), "stores imported: 0, known already: 2\n");
    let stores = &server.get("/api/stores").await.expect(200)["stores"];
    assert_eq!(
        (&stores[0]["name"], &stores[0]["groups"], &stores[1]["slug"]),
        (&json!("Leaf"), &json!(["rivals"]), &json!("fern"))
    );
    let looked_up = server.get("/api/tasks?role=entry_point_discovery").await.expect(200);
    assert_eq!(looked_up["tasks"][0]["dispensary_id"], stores[1]["id"]);
    let audited = server.get("/api/audit?action=stores.import").await.expect(200);
    assert_eq!(audited["audit"].as_array().unwrap().len(), 2);

    let added = text(&run(&["stores", "add", "--name", "Moss", "--slug", "moss", "--json"]).await);
    assert!(serde_json::from_str::<Value>(&added).unwrap()["entry_point_task_id"].is_i64(), "{added}");
    let again = refused(&run(&["stores", "add", "--name", "Moss", "--slug", "moss"]).await, 4);
    assert!(again.contains("the store exists already; its id is "), "{again}");
    let private =
        refused(&run(&["stores", "add", "--name", "Den", "--slug", "den", "--api-host", "10.0.0.1"]).await, 2);
    assert!(private.contains("api_host 10.0.0.1 is not a public host"), "{private}");
}

#[tokio::test]
async fn an_empty_list_names_the_command_that_fills_it() {
    let database = testkit::database().await;
    let cases: [(&[&str], &str); 6] = [
        (&["stores", "list"], "drover stores import"),
        (&["proxies", "list"], "drover proxies import FILE"),
        (&["tasks", "list"], "drover tasks generate"),
        (&["workers", "list"], "drover worker"),
        (&["token", "list"], "drover token create"),
        (&["groups", "list"], "drover stores tag"),
    ];
    for (args, command) in cases {
        println!("{command}");
        let list = async |more: &[&str]| {
            let args = [args, more].concat();
            drover().env("DATABASE_URL", &database.url).args(args).output().await.unwrap()
        };
        let said = list(&[]).await;
        assert!(said.status.success() && String::from_utf8_lossy(&said.stderr).contains(command), "{said:?}");
        assert!(list(&["--json"]).await.stderr.is_empty(), "its JSON says it");
    }
}

#[tokio::test]
async fn the_items_of_an_account_are_listed() {
    let server = Server::start().await;
    let sql = "INSERT INTO media_accounts (id, platform, username, kind) VALUES (7, 'site', 'ann', 'public');
               INSERT INTO media_items (source, source_id, account_id, kind, url)
               VALUES ('site', 'of-ann', 7, 'file', 'https://site.example/1'), ('site', 'of-none', NULL, 'file', 'https://site.example/2')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let cases: [(&str, Api); 2] = [("in process", InProcess), ("of a server", OfServer)];
    for (case, api) in cases {
        println!("{case}");
        let listed = text(&run(&server, api, &["media", "items", "--account", "7"]).await);
        assert!(listed.lines().count() == 2 && listed.contains("of-ann"), "{listed}");
        let refused = refused(&run(&server, api, &["media", "items", "--account", "ann"]).await, 2);
        assert!(refused.contains("--account"), "{refused}");
    }
}

#[tokio::test]
async fn a_revoked_token_is_named() {
    let database = testkit::database().await;
    let token = async |args: &[&str]| {
        let said = drover().env("DATABASE_URL", &database.url).arg("token").args(args).output().await.unwrap();
        text(&said)
    };
    token(&["create", "--role", "viewer", "--name", "wall screen"]).await;
    assert_eq!(token(&["revoke", "1"]).await, "token 1 of wall screen is revoked, and its users are logged out\n");
}

#[tokio::test]
async fn a_command_that_no_api_serves_refuses_an_url() {
    let server = Server::start().await;
    for args in [
        &["payload", "show", "1"][..],
        &["payload", "replay", "1"],
        &["migrate", "status"],
        &["doctor"],
        &["db", "url"],
        &["worker"],
        &["up"],
    ] {
        let said = refused(&run(&server, OfServer, args).await, 2);
        assert!(said.contains("--url"), "{args:?}: {said}");
    }
}

#[tokio::test]
async fn how_long_things_are_kept_and_what_was_last_removed_is_shown() {
    let server = Server::start().await;
    let note = "INSERT INTO retention_runs (kind, removed) VALUES ('crawled_data', 12)";
    server.database.raw.batch_execute(note).await.unwrap();
    let shown = text(&run(&server, InProcess, &["retention", "show"]).await);
    assert!(
        shown.contains("retention.completed     7d") && shown.contains("retention.payloads      forever"),
        "{shown}"
    );
    assert!(shown.contains("last run, crawled_data") && shown.contains("deleted: 12"), "{shown}");
    let of_server = text(&run(&server, OfServer, &["retention", "show", "--json"]).await);
    assert_eq!(serde_json::from_str::<Value>(&of_server).unwrap()["runs"][0]["removed"], 12);
}
