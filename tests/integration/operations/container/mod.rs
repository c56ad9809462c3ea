//! `deploy/container`: its image agrees with the pods of `deploy/k8s`, is the same whenever it is built, is small, and crawls from a
//! root file system that cannot be written to.

mod image;
mod media_image;

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;

use domain::task::role::Role;
use serde_json::json;
use settings::{Config, Sources};
use testkit::{Child, Farm, FaultProxy, PATIENCE, root, until};

use super::kubernetes;
use image::{Image, program};

/// Maximum size of what a machine downloads, and of the files that it unpacks.
const MAX_ARCHIVE: u64 = 20 << 20;
const MAX_FILES: u64 = 40 << 20;
const STORES: usize = 3;

#[test]
fn the_image_has_the_account_and_the_places_of_the_pods() {
    let containerfile = text_of("deploy/container/Containerfile");
    for pod in kubernetes::pods_of_drover() {
        let [user, group] = ["runAsUser", "runAsGroup"].map(|key| pod["securityContext"][key].to_string());
        assert!(containerfile.contains(&format!("\nUSER {user}:{group}\n")), "pods run as {user}:{group}");
        assert!(text_of("deploy/container/base").contains(&format!("\nACCOUNT={user}\n")));
    }
    let (of_image, of_pods) = (settings_in("deploy/container"), settings_in("deploy/k8s/base"));
    assert_eq!(of_image.data_dir(), of_pods.data_dir());
    assert_eq!(of_image.storage_root(), of_pods.storage_root());
    assert_eq!((&of_image.api.listen, &of_image.probes.listen), (&of_pods.api.listen, &of_pods.probes.listen));
    for listen in [&of_image.api.listen, &of_image.probes.listen] {
        let (_, port) = listen.rsplit_once(':').unwrap();
        let exposed = containerfile.lines().find_map(|line| line.strip_prefix("EXPOSE ")).unwrap();
        assert!(exposed.split(' ').any(|it| it == port), "{port} is not exposed");
    }
}

#[test]
fn the_containerfile_builds_what_the_script_builds() {
    let (containerfile, script) = (text_of("deploy/container/Containerfile"), text_of("deploy/container/build"));
    let build = |text: &str| {
        let from = text.find("cargo build").unwrap();
        text[from..].lines().next().unwrap().to_owned()
    };
    assert_eq!(build(&containerfile), build(&script));
    assert!(text_of("dev").contains(&build(&script)), "the tests put another program into images");
    let rust = text_of("rust-toolchain.toml");
    let channel = rust.lines().find_map(|line| line.strip_prefix("channel = ")).unwrap().trim_matches('"').to_owned();
    let base = text_of("deploy/container/base");
    let suite = base.lines().find_map(|line| line.strip_prefix("SUITE=")).unwrap();
    let minor = channel.rsplit_once('.').unwrap().0;
    assert!(containerfile.contains(&format!("/rust:{minor}-slim-{suite} AS")), "{minor} on {suite}");
    assert!(containerfile.contains(&format!("/debian:{suite}-slim AS")));
}

#[test]
#[cfg_attr(not(slow_tests), ignore = "needs mmdebstrap and buildah: ./dev ops-test")]
fn the_image_of_a_program_is_the_same_each_time() {
    let (first, second) = (Image::build(&program()), Image::build(&program()));
    assert_eq!(first.id, second.id);
    assert!(std::fs::read(first.archive()).unwrap() == std::fs::read(second.archive()).unwrap(), "the archives differ");
}

#[test]
#[ignore = "needs mmdebstrap, buildah and the program of a release: DROVER_RELEASE=1 ./dev ops-test"]
fn the_image_of_a_release_is_small() {
    let image = Image::build(&program());
    let (archive, files) = (std::fs::metadata(image.archive()).unwrap().size(), image.unpack().bytes());
    println!("archive: {archive} bytes; files: {files} bytes");
    assert!(archive <= MAX_ARCHIVE, "the archive has {archive} bytes");
    assert!(files <= MAX_FILES, "the files have {files} bytes");
}

#[test]
#[cfg_attr(not(slow_tests), ignore = "needs mmdebstrap and buildah: ./dev ops-test")]
fn another_program_makes_another_image() {
    let dir = tempfile::tempdir().unwrap();
    let longer = dir.path().join("drover");
    std::fs::copy(program(), &longer).unwrap();
    let mut bytes = std::fs::read(&longer).unwrap();
    bytes.push(0);
    std::fs::write(&longer, bytes).unwrap();
    assert_ne!(Image::build(&program()).id, Image::build(&longer).id);
}

#[test]
#[cfg_attr(not(slow_tests), ignore = "needs mmdebstrap and buildah: ./dev ops-test")]
fn the_image_runs_drover_without_a_shell_and_without_rights() {
    let image = Image::build(&program());
    let config = image.config();
    assert_eq!(config["User"], "65532:65532");
    assert_eq!(config["Env"], json!(["PATH=/usr/local/bin", "DROVER_ENV=production"]));
    let version = image.run(&["drover", "version"]);
    assert!(version.status.success(), "{version:?}");
    assert!(String::from_utf8_lossy(&version.stdout).starts_with("drover "), "{version:?}");
    let nothing_runs = image.run(&["drover", "--config", "/etc/drover", "healthcheck"]);
    let said = String::from_utf8_lossy(&nothing_runs.stderr).into_owned();
    assert_eq!(nothing_runs.status.code(), Some(1), "{said}");
    assert!(said.contains("http://127.0.0.1:9100"), "{said}");
    let shell = image.run(&["sh", "-c", "true"]);
    assert!(!shell.status.success(), "{shell:?}");
    let writable = image.unpack().set_user_id_or_writable_by_all();
    assert_eq!(writable, ["/tmp"]);
}

#[tokio::test]
#[cfg_attr(not(slow_tests), ignore = "needs mmdebstrap, buildah and mounts: ./dev ops-test")]
async fn two_processes_crawl_from_the_read_only_image() {
    let files = Image::build(&program()).unpack();
    let farm = Farm::with_stores(STORES).await;
    let network = FaultProxy::start(farm.url()).await;
    std::os::unix::fs::chown(farm.storage(), Some(image::ACCOUNT), Some(image::ACCOUNT)).unwrap();
    let of_image = |args: &[&str]| {
        let mut command = files.command(&farm.drover(&[]), farm.storage(), args);
        command.env("DATABASE_URL", network.url()).env_remove("DROVER__STORAGE__ROOT");
        command
    };
    farm.enqueue(Role::PayloadFetch).await;
    let mut processes = [Child::spawn(&mut of_image(&["api"])), Child::spawn(&mut of_image(&["worker"]))];
    for process in &processes {
        let address = process.probes().await;
        until("the service is ready", PATIENCE, async || is_healthy(&mut of_image(&["healthcheck"]), address).await)
            .await;
    }
    farm.until_crawled().await;
    assert_eq!(farm.products().await, farm.expected_products(1));
    assert_eq!(farm.files().len(), STORES);
    for process in &mut processes {
        process.signal(nix::sys::signal::Signal::SIGTERM);
        assert!(process.ended(PATIENCE).await.success());
    }
}

async fn is_healthy(healthcheck: &mut tokio::process::Command, address: SocketAddr) -> bool {
    healthcheck.env("DROVER__PROBES__LISTEN", address.to_string()).output().await.unwrap().status.success()
}

fn settings_in(dir: &str) -> Config {
    Config::load(&Sources { dir: Some(root().join(dir)), ..Sources::default() }).unwrap().config
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}
