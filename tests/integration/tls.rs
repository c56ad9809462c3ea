//! Encrypted connections, against a real server with a certificate of its own authority.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::connection::server::Server;
use db::{Db, DbError, PoolSizes};
use domain::task::role::Role;
use private_server::PrivateServer;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use testkit::{Child, Farm};

/// A private server that also listens on loopback, with TLS.
struct TlsServer {
    _server: PrivateServer,
    dir: tempfile::TempDir,
    port: u16,
}

impl TlsServer {
    async fn start() -> TlsServer {
        TlsServer::start_with("ssl=on").await
    }

    async fn start_with(ssl: &str) -> TlsServer {
        let dir = testkit::server_dir();
        // initialised first: the key must belong to whoever owns the cluster
        drop(private_server::start_with(dir.path(), testkit::server_options(Duration::ZERO)).await.unwrap());
        private_server::stop(dir.path()).await.unwrap();
        write_certificates(dir.path());
        let port = testkit::free_port();
        let mut options = testkit::server_options(Duration::ZERO);
        options.settings.extend([
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={port}"),
            ssl.to_owned(),
            format!("ssl_cert_file={}", dir.path().join("server.pem").display()),
            format!("ssl_key_file={}", dir.path().join("server.key").display()),
        ]);
        let server = private_server::start_with(dir.path(), options).await.unwrap();
        TlsServer { _server: server, dir, port }
    }

    fn url(&self, host: &str, parameters: &str) -> String {
        format!("postgresql://drover@{host}:{}/drover?{parameters}", self.port)
    }

    fn authority(&self) -> PathBuf {
        self.dir.path().join("authority.pem")
    }
}

fn write_certificates(dir: &Path) {
    let authority = new_authority();
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    fs::write(dir.join("authority.pem"), authority.pem()).unwrap();
    fs::write(dir.join("server.pem"), server.pem()).unwrap();
    fs::write(dir.join("server.key"), key.serialize_pem()).unwrap();
    fs::set_permissions(dir.join("server.key"), fs::Permissions::from_mode(0o600)).unwrap();
    let owner = fs::metadata(dir.join("data")).unwrap();
    chown(dir.join("server.key"), Some(owner.uid()), Some(owner.gid())).unwrap();
}

/// All have the same name, and each has a key of its own.
fn new_authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut authority = CertificateParams::new([]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap()
}

async fn is_encrypted(url: &str) -> Result<bool, DbError> {
    let (client, connection) =
        Server::parse(url, Duration::from_secs(5))?.connect("drover test", Duration::from_secs(5)).await?;
    tokio::spawn(connection);
    let ssl = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    Ok(client.query_one(ssl, &[]).await?.get(0))
}

#[tokio::test]
async fn the_url_decides_what_is_encrypted_and_who_is_trusted() {
    let server = TlsServer::start().await;
    let authority = server.authority().display().to_string();
    let verified = format!("sslmode=verify-full&sslrootcert={authority}");

    assert!(!is_encrypted(&server.url("localhost", "")).await.unwrap(), "loopback is plain unless asked");
    assert!(is_encrypted(&server.url("localhost", "sslmode=require")).await.unwrap());
    assert!(is_encrypted(&server.url("localhost", &verified)).await.unwrap());

    let unknown_authority = is_encrypted(&server.url("localhost", "sslmode=verify-full")).await.unwrap_err();
    assert!(unknown_authority.is_transient(), "{unknown_authority}");
    assert!(
        unknown_authority.to_string().contains("name the file of its authority as sslrootcert"),
        "{unknown_authority}"
    );
    let other = server.dir.path().join("other.pem");
    fs::write(&other, new_authority().pem()).unwrap();
    let other = format!("sslmode=verify-full&sslrootcert={}", other.display());
    let wrong_authority = is_encrypted(&server.url("localhost", &other)).await.unwrap_err();
    assert!(wrong_authority.to_string().contains("no trusted authority has signed it"), "{wrong_authority}");
    let wrong_name = is_encrypted(&server.url("127.0.0.1", &verified)).await.unwrap_err();
    assert!(wrong_name.is_transient(), "{wrong_name}");
    assert!(wrong_name.to_string().contains("it is for another host"), "{wrong_name}");
}

#[tokio::test]
async fn a_server_without_tls_is_refused_with_the_remedy() {
    let server = TlsServer::start_with("ssl=off").await;
    let error = is_encrypted(&server.url("localhost", "sslmode=verify-full")).await.unwrap_err().to_string();
    assert!(error.contains("server does not support TLS") && error.contains("ssl = on"), "{error}");
}

#[tokio::test]
async fn a_crawl_uses_tls_on_every_connection() {
    let server = TlsServer::start().await;
    let plain = server.url("localhost", "");
    let farm = Farm::on(&plain, 1).await;
    let verified =
        server.url("localhost", &format!("sslmode=verify-full&sslrootcert={}", server.authority().display()));
    let _worker = Child::spawn(farm.drover(&["worker"]).env("DATABASE_URL", &verified));
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    let names = "SELECT count(DISTINCT application_name) FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
                  WHERE ssl AND application_name IN ('drover', 'drover heartbeat', 'drover listen')";
    farm.until_counted("pool, heartbeat and LISTEN use TLS", names, 3).await;
}

#[tokio::test]
async fn a_call_is_cancelled_over_tls_too() {
    let server = TlsServer::start().await;
    let url = server.url("localhost", "sslmode=require");
    // waited out, and the statement before the long one is answered within it
    let settings = settings::Database { statement_timeout: Duration::from_secs(1), ..testkit::database_settings() };
    let db = Db::new(&url, &settings, PoolSizes { work: 1, api: 1 }).unwrap();
    let client = db.client().await.unwrap();
    client.batch("SET statement_timeout = 0").await.unwrap();
    client.query("SELECT pg_sleep(60)", &[]).await.unwrap_err();
    drop(client);

    let observer = testkit::connect(&server.url("localhost", "")).await;
    let sleeping = "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'";
    testkit::until("the statement has ended on the server", Duration::from_secs(60), async || {
        observer.query(sleeping, &[]).await.unwrap().is_empty()
    })
    .await;
}
