//! `drover proxies`, as an operator runs it.

use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt;

use crate::support::{TestDatabase, database, drover};

/// Runs `drover proxies …` on the test's database with `input` on stdin.
async fn proxies(database: &TestDatabase, args: &[&str], input: &str) -> Output {
    let mut command = drover();
    command.arg("proxies").args(args).env("DATABASE_URL", &database.url);
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
    let listed = json(&output);
    assert_eq!(
        (&listed[0]["host"], &listed[0]["port"], &listed[0]["state"]),
        (&"p1".into(), &3128.into(), &"active".into())
    );
    let table = stdout(&proxies(&database, &["list"], "").await);
    assert!(
        table.contains("http://p1:3128 ") && table.contains(" bob ") && table.contains("socks5://[::1]:1080"),
        "{table}"
    );
    assert!(!stdout(&output).contains("s3cret") && !table.contains("s3cret"));
}

#[tokio::test]
async fn a_faulty_file_is_refused_with_all_its_faults() {
    let database = database().await;
    let file = tempfile::Builder::new().prefix("proxies").suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), "good:1\nbad:99999\nhttp://bob:s3cret@worse\n").unwrap();
    let path = file.path().to_str().unwrap();
    let output = proxies(&database, &["import", path], "").await;
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("{path} line 2: port 99999 is out of range (1–65535)")), "{said}");
    assert!(said.contains(&format!("{path} line 3: the port is missing")), "{said}");
    assert!(said.contains("nothing was imported") && !said.contains("s3cret"), "{said}");
    assert_eq!(json(&proxies(&database, &["list", "--json"], "").await), serde_json::json!([]));
}
