//! `drover proxies`, as an operator runs it.

use std::process::{Output, Stdio};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use testkit::{TestDatabase, database, drover, free_port};

/// Runs `drover proxies …` on the test's database with `input` on stdin.
async fn proxies(database: &TestDatabase, args: &[&str], input: &str) -> Output {
    let mut command = drover();
    command.arg("proxies").args(args).env("DATABASE_URL", &database.url);
    // a host that does not resolve: a request that reaches it went through a proxy
    command.env("DROVER__PLATFORM__DUTCHIE__BASE_URL", "http://menu.invalid");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    child.wait_with_output().await.unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

#[tokio::test]
async fn what_is_imported_is_listed_without_its_password() {
    let database = database().await;
    let text = "host,port,protocol,username,password,state_code\nP1,3128,http,bob,s3cret,AZ\n::1,1080,socks5,,,\np1,3128,,bob,x,\n";
    let imported = json(&proxies(&database, &["import", "-", "--json"], text).await);
    assert_eq!(imported["created"], 2);
    assert_eq!(
        imported["duplicates"],
        serde_json::json!(["standard input line 4: the same proxy as line 2, left out"])
    );

    let output = proxies(&database, &["list", "--json"], "").await;
    let listed = json(&output)["proxies"].clone();
    assert_eq!(
        (&listed[0]["host"], &listed[0]["port"], &listed[0]["health"]),
        (&"p1".into(), &3128.into(), &"untested".into())
    );
    let table = stdout(&proxies(&database, &["list"], "").await);
    assert!(
        table.contains("http://p1:3128 ") && table.contains(" bob ") && table.contains("socks5://[::1]:1080"),
        "{table}"
    );
    let used = "UPDATE proxies SET recent_requests = 20, recent_refused = 5, success_count = 700, failure_count = 9 WHERE host = 'p1'";
    database.raw.batch_execute(used).await.unwrap();
    let table = stdout(&proxies(&database, &["list"], "").await);
    let header = table.lines().next().unwrap();
    assert!(header.contains("GOOD OF LATEST") && header.contains("OK EVER  FAILED EVER"), "{header}");
    assert!(table.contains("75 % of 20") && table.contains(" 700 "), "{table}");
    assert!(!stdout(&output).contains("s3cret") && !table.contains("s3cret"));
}

#[tokio::test]
async fn what_is_exported_can_be_imported() {
    let database = database().await;
    let list = "host,port,protocol,username,password,state_code,timezone\n::1,1080,socks5,,,,\np1,3128,http,bob,\"s3,cret\",AZ,\n";
    proxies(&database, &["import", "-"], list).await;
    assert_eq!(stdout(&proxies(&database, &["export", "--with-passwords"], "").await), list);
    let shown = stdout(&proxies(&database, &["export"], "").await);
    assert_eq!(shown, list.replace("\"s3,cret\"", ""));

    proxies(&database, &["disable", "1"], "").await;
    assert!(stdout(&proxies(&database, &["list", "--health", "off"], "").await).contains("socks5://[::1]:1080"));
    assert_eq!(stdout(&proxies(&database, &["enable", "1"], "").await), "proxy 1 (socks5://[::1]:1080) is untested\n");
    assert_eq!(proxies(&database, &["disable", "7"], "").await.status.code(), Some(3));
}

#[tokio::test]
async fn what_a_spreadsheet_reads_as_a_formula_is_exported_as_text_and_imported_as_it_was() {
    let (first, second) = (database().await, database().await);
    let list = |word: &str| {
        format!("host,port,protocol,username,password,state_code,timezone\np1,3128,http,-bob,{word},AZ,\n")
    };
    proxies(&first, &["import", "-"], &list("=s3cret")).await;
    let exported = stdout(&proxies(&first, &["export", "--with-passwords"], "").await);
    assert_eq!(exported, list("'=s3cret").replace("-bob", "'-bob"));
    proxies(&second, &["import", "-"], &exported).await;
    assert_eq!(stdout(&proxies(&second, &["export", "--with-passwords"], "").await), exported);
    let user = "SELECT username FROM proxies";
    assert_eq!(second.raw.query_one(user, &[]).await.unwrap().get::<_, String>(0), "-bob");
}

#[tokio::test]
async fn a_faulty_file_is_refused_with_all_its_faults() {
    let database = database().await;
    let file = tempfile::Builder::new().prefix("proxies").suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), "good:1\nbad:99999\nhttp://bob:s3cret@worse\n").unwrap();
    let path = file.path().to_str().unwrap();
    let output = proxies(&database, &["import", path], "").await;
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("{path} line 2: port 99999 is out of range (1–65535)")), "{said}");
    assert!(said.contains(&format!("{path} line 3: the port is missing")), "{said}");
    assert!(said.contains("nothing was imported") && !said.contains("s3cret"), "{said}");
    assert_eq!(json(&proxies(&database, &["list", "--json"], "").await)["proxies"], serde_json::json!([]));
}

/// The request of tasks to a platform.
const QUESTION: &str = "GET http://menu.invalid/api-3/graphql?operationName=ConsumerDispensaries&variables=";

/// A forward proxy that answers requests that tasks make with `status`; its port.
async fn proxy_that_answers(status: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (read, mut write) = stream.into_split();
            let mut lines = BufReader::new(read).lines();
            let asked = lines.next_line().await.unwrap().unwrap_or_default();
            while lines.next_line().await.unwrap().is_some_and(|line| !line.is_empty()) {}
            let status = if asked.starts_with(QUESTION) { status } else { "400 Not for me" };
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}");
            write.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    port
}

#[tokio::test]
async fn bad_lines_go_to_a_file_that_only_its_owner_reads() {
    use std::os::unix::fs::PermissionsExt;
    let database = database().await;
    let dir = tempfile::tempdir().unwrap();
    let bad = dir.path().join("bad.txt");
    let list = "good.example:1\nbad.example:99999:me:s3cret\nfine.example:2\n";
    let output = proxies(&database, &["import", "-", "--skip-bad", bad.to_str().unwrap(), "--json"], list).await;
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert_eq!((&json(&output)["created"], &json(&output)["refused"]), (&2.into(), &1.into()));
    let refused = std::fs::read_to_string(&bad).unwrap();
    assert_eq!(refused, "# line 2: port 99999 is out of range (1–65535)\nbad.example:99999:me:s3cret\n");
    assert_eq!(std::fs::metadata(&bad).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_check_tries_each_proxy_and_says_what_is_wrong_with_it() {
    let database = database().await;
    let ports = [
        proxy_that_answers("200 OK").await,
        proxy_that_answers("404 Not Found").await,
        proxy_that_answers("403 Forbidden").await,
        proxy_that_answers("407 Proxy Authentication Required").await,
        free_port(),
        free_port(),
    ];
    let text: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    proxies(&database, &["import", "-"], &text.join("\n")).await;
    database.raw.execute("UPDATE proxies SET is_active = false WHERE id = 6", &[]).await.unwrap();

    let output = proxies(&database, &["check", "--json"], "").await;
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(output.stderr.is_empty(), "the note is for people: {output:?}");
    let checks = json(&output);
    let result = |n: usize| (checks[n]["ok"].as_bool().unwrap(), checks[n]["reason"].as_str().unwrap_or_default());
    assert_eq!(checks.as_array().unwrap().len(), 5, "the one switched off is never tried");
    assert_eq!(result(0), (true, ""));
    assert_eq!(result(1), (false, "menu.invalid failed: status 404"));
    assert_eq!(result(2), (false, "menu.invalid refused the request: 403"));
    assert!(result(3).1.contains("requires credentials other than"), "{checks}");
    assert!(result(4).1.contains("cannot be reached"), "{checks}");

    let one = proxies(&database, &["test", "1"], "").await;
    assert!(stdout(&one).starts_with("proxy 1 is ok: answered in "), "{one:?}");
    let one = proxies(&database, &["test", "5"], "").await;
    assert_eq!(one.status.code(), Some(1), "{one:?}");
    assert_eq!(String::from_utf8_lossy(&one.stderr), "", "no alarm");

    database.raw.execute("DELETE FROM proxies WHERE id < 2", &[]).await.unwrap();
    let failed = proxies(&database, &["check"], "").await;
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(said.contains("does not change the health"), "{said}");
    database.raw.execute("DELETE FROM proxies", &[]).await.unwrap();
    assert_eq!(proxies(&database, &["check"], "").await.status.code(), Some(3));
}

#[tokio::test]
async fn times_written_by_hand_stop_no_list_and_no_pool() {
    let database = database().await;
    let insert = "INSERT INTO proxies (protocol, host, port, is_active, cooldown_until, last_used_at, last_failure_at)
                  VALUES ('http', 'a.example', 1, false, '-infinity', '-infinity', 'infinity'),
                         ('http', 'b.example', 2, false, '-infinity', 'infinity', '294276-01-01'),
                         ('http', 'c.example', 3, true, NULL, NULL, NULL)";
    database.raw.batch_execute(insert).await.unwrap();
    let worker = "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, max_concurrent_tasks, status, last_heartbeat_at, started_at)
                  VALUES ('w', 'n', 'p', 'any', '{}', 1, 'active', 'infinity', '-infinity')";
    database.raw.batch_execute(worker).await.unwrap();
    let client = database.db.client().await.unwrap();
    let hosts: Vec<String> = db::proxies::load(&client, &foundation::secrets::SecretKeys::default())
        .await
        .unwrap()
        .rows
        .into_iter()
        .map(|row| row.proxy.host)
        .collect();
    assert_eq!(hosts, ["a.example", "b.example", "c.example"]);
    assert_eq!(super::listed(&database.db).await.len(), 3);
    assert_eq!(db::workers::list(&client).await.unwrap().len(), 1);
}
