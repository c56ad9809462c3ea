//! The files of a release, as people get them: the package on an older Debian, with data, through an upgrade and a
//! removal; the archive there; and the installer. `./dev release` makes the files and names their directory.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;

use testkit::SlowLink;

/// Release of Debian with the C library 2.31.
const SUITE: &str = "bullseye";
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn release_file(name: &str) -> PathBuf {
    let dir = std::env::var_os("DROVER_RELEASE_FILES").expect("./dev release names the files");
    PathBuf::from(dir).join(name)
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The root file system of an older Debian.
struct OlderDebian {
    root: TempDir,
}

impl OlderDebian {
    fn new() -> OlderDebian {
        let root = tempfile::tempdir().unwrap();
        let mut command = Command::new("mmdebstrap");
        command.args(["--quiet", "--variant=minbase", "--include=adduser,ca-certificates", SUITE]).arg(root.path());
        run(&mut command);
        OlderDebian { root }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    fn shell(&self, script: &str) -> String {
        let mut command = Command::new("chroot");
        command.arg(self.root.path()).args(["sh", "-ec", script]).env_clear();
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("DEBIAN_FRONTEND", "noninteractive");
        String::from_utf8(run(&mut command).stdout).unwrap()
    }

    /// Copies a file into its `/tmp`.
    fn take(&self, file: &Path) {
        std::fs::copy(file, self.path("/tmp").join(file.file_name().unwrap())).unwrap();
    }
}

/// The package with another version and other default settings.
fn older_package(dir: &Path) -> PathBuf {
    let (unpacked, package) = (dir.join("unpacked"), dir.join("drover_0.0.9_amd64.deb"));
    run(Command::new("dpkg-deb").arg("-R").arg(release_file(&format!("drover_{VERSION}-1_amd64.deb"))).arg(&unpacked));
    let change = |path: &str, from: &str, to: &str| {
        let text = std::fs::read_to_string(unpacked.join(path)).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(unpacked.join(path), text.replacen(from, to, 1)).unwrap();
    };
    change("DEBIAN/control", &format!("Version: {VERSION}"), "Version: 0.0.9");
    change("etc/drover/default.toml", "# Settings", "# Older settings");
    run(Command::new("dpkg-deb").args(["--root-owner-group", "-b"]).arg(&unpacked).arg(&package));
    package
}

// the link to the database needs a thread while the package is installed
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the files of a release: ./dev release"]
async fn the_package_keeps_settings_key_and_data_through_an_upgrade_and_a_removal() {
    let (database, dir, debian) = (testkit::database().await, tempfile::tempdir().unwrap(), OlderDebian::new());
    let link = SlowLink::start(&database.url, Duration::ZERO).await;
    debian.take(&older_package(dir.path()));
    debian.take(&release_file(&format!("drover_{VERSION}-1_amd64.deb")));

    debian.shell("dpkg -i /tmp/drover_0.0.9_amd64.deb");
    let secrets = debian.path("/etc/drover/drover.env");
    assert_eq!(std::fs::metadata(&secrets).unwrap().permissions().mode() & 0o777, 0o600);
    let key = std::fs::read_to_string(&secrets).unwrap();
    assert!(key.lines().any(|line| line.strip_prefix("DROVER__SECRETS__KEY=").is_some_and(|key| key.len() == 64)));
    std::fs::write(&secrets, format!("{key}DATABASE_URL={}\n", link.url())).unwrap();
    std::fs::write(debian.path("/tmp/stores.csv"), "name,slug\nA store,a-store\n").unwrap();
    let drover = "set -a; . /etc/drover/drover.env; cd /var/lib; drover --config /etc/drover";
    debian.shell(
        "mkdir -p /var/lib/drover && echo menu > /var/lib/drover/file; echo '[topology]' >> /etc/drover/default.toml",
    );
    debian.shell(&format!("{drover} migrate up; {drover} stores import /tmp/stores.csv"));
    let settings = std::fs::read_to_string(debian.path("/etc/drover/default.toml")).unwrap();
    let secret = std::fs::read_to_string(&secrets).unwrap();

    debian.shell(&format!("dpkg -i --force-confold /tmp/drover_{VERSION}-1_amd64.deb"));
    assert!(debian.shell(&format!("{drover} --version")).contains(VERSION));
    assert!(debian.shell(&format!("{drover} stores list --json")).contains("a-store"));
    assert_eq!(std::fs::read_to_string(debian.path("/etc/drover/default.toml")).unwrap(), settings);
    assert_eq!(std::fs::read_to_string(&secrets).unwrap(), secret);
    for installed in ["/usr/share/man/man1/drover.1.gz", "/usr/lib/systemd/system/drover-api.service"] {
        assert!(debian.path(installed).is_file(), "{installed}");
    }

    debian.shell("dpkg -r drover");
    assert!(!debian.path("/usr/bin/drover").exists() && secrets.exists());
    debian.shell("dpkg -P drover");
    assert!(!debian.path("/etc/drover").exists());
    assert!(debian.path("/var/lib/drover/file").is_file(), "data stay");
}

#[test]
#[ignore = "needs the files of a release: ./dev release"]
fn the_archive_runs_on_an_older_c_library() {
    let debian = OlderDebian::new();
    let name = format!("drover-{VERSION}-x86_64-linux");
    debian.take(&release_file(&format!("{name}.tar.gz")));
    let said = debian.shell(&format!(
        "tar -xzf /tmp/{name}.tar.gz -C /opt && /opt/{name}/bin/drover version && /opt/{name}/bin/drover config check"
    ));
    assert!(said.contains(VERSION), "{said}");
}

#[test]
#[ignore = "needs the files of a release: ./dev release"]
fn the_installer_takes_no_archive_with_another_checksum() {
    let (files, prefix) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let archive = format!("drover-{VERSION}-x86_64-linux.tar.gz");
    for name in [archive.clone(), format!("drover-{VERSION}-SHA256SUMS")] {
        std::fs::copy(release_file(&name), files.path().join(&name)).unwrap();
    }
    let install = || {
        let mut command = Command::new("sh");
        command.arg(release_file("drover-install.sh")).arg(prefix.path());
        command.env("DROVER_RELEASE_URL", format!("file://{}", files.path().display())).output().unwrap()
    };
    let program = prefix.path().join("bin/drover");
    let whole = std::fs::read(files.path().join(&archive)).unwrap();
    std::fs::write(files.path().join(&archive), &whole[1..]).unwrap();
    let refused = install();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("nothing was installed") && !program.exists(), "{said}");

    std::fs::write(files.path().join(&archive), &whole).unwrap();
    assert!(install().status.success());
    assert!(String::from_utf8(run(Command::new(&program).arg("--version")).stdout).unwrap().contains(VERSION));
}
