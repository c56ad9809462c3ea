//! `Image`: the result of `deploy/container/build` for a program, and the files in it, from which commands run.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use testkit::root;

/// Number of the image's user and group.
pub const ACCOUNT: u32 = 65532;

/// Gives a command the root file system that a container has, then its user: $1 the image's files, $2 its storage, $3 its PATH.
const ENTER: &str = r#"
    root=$1 storage=$2 path=$3
    shift 3
    mount --bind "$root" "$root"
    mount --options remount,bind,ro "$root"
    mount --bind "$storage" "$root/var/lib/drover"
    mount --types tmpfs --options mode=1777 tmpfs "$root/tmp"
    mount --types tmpfs --options mode=1777 tmpfs "$root/var/cache/drover"
    mount --rbind /dev "$root/dev"
    mount --rbind /proc "$root/proc"
    chroot=$(command -v chroot)
    PATH=$path exec "$chroot" --userspec=65532:65532 "$root" "$@"
"#;
const SET_USER_OR_GROUP_ID: u32 = 0o6000;
const WRITABLE_BY_ALL: u32 = 0o002;

/// The program to put into images, as it is released.
pub fn program() -> PathBuf {
    let program = std::env::var("DROVER_IMAGE_PROGRAM").expect("DROVER_IMAGE_PROGRAM names no program: ./dev ops-test");
    root().join(program)
}

pub struct Image {
    pub id: String,
    dir: TempDir,
}

impl Image {
    pub fn build(program: &Path) -> Image {
        Image::build_with(&[], program)
    }

    /// The one with download tools.
    pub fn build_with_media_tools(program: &Path) -> Image {
        Image::build_with(&["--media"], program)
    }

    fn build_with(options: &[&str], program: &Path) -> Image {
        let dir = tempfile::tempdir().unwrap();
        let mut build = Command::new(root().join("deploy/container/build"));
        let built =
            build.args(options).arg("--program").arg(program).arg(dir.path().join("drover.tar")).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let said = String::from_utf8(built.stdout).unwrap();
        let id = said.lines().find_map(|line| line.strip_prefix("image sha256:")).unwrap().to_owned();
        let image = Image { id, dir };
        image.unpack_archive();
        image
    }

    pub fn archive(&self) -> PathBuf {
        self.dir.path().join("drover.tar")
    }

    /// The part that says how the image is run.
    pub fn config(&self) -> Value {
        self.blob(&self.id)["config"].clone()
    }

    /// The files of all layers.
    pub fn unpack(&self) -> Files {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let index: Value = serde_json::from_slice(&std::fs::read(self.oci().join("index.json")).unwrap()).unwrap();
        let manifest = self.blob(hex(&index["manifests"][0]["digest"]));
        assert_eq!(hex(&manifest["config"]["digest"]), self.id);
        for layer in manifest["layers"].as_array().unwrap() {
            tar(
                &["--extract", "--gzip", "--same-owner", "--same-permissions"],
                &self.blob_path(hex(&layer["digest"])),
                dir.path(),
            );
        }
        Files(dir)
    }

    /// Output of a command in a container, with the rights and variables that the image gives it.
    pub fn run(&self, args: &[&str]) -> Output {
        let made =
            self.buildah().arg("from").arg(format!("oci-archive:{}", self.archive().display())).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let container = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        self.buildah().args(["run", "--isolation", "chroot", &container, "--"]).args(args).output().unwrap()
    }

    /// Makes a command with places of its own, so that the machine's images and containers stay as they are.
    fn buildah(&self) -> Command {
        let mut command = Command::new("buildah");
        command.args(["--storage-driver", "vfs", "--root"]).arg(self.dir.path().join("storage"));
        command.arg("--runroot").arg(self.dir.path().join("run"));
        command
    }

    fn unpack_archive(&self) {
        std::fs::create_dir(self.oci()).unwrap();
        tar(&["--extract"], &self.archive(), &self.oci());
    }

    fn blob(&self, hex: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.blob_path(hex)).unwrap()).unwrap()
    }

    fn blob_path(&self, hex: &str) -> PathBuf {
        self.oci().join("blobs/sha256").join(hex)
    }

    fn oci(&self) -> PathBuf {
        self.dir.path().join("oci")
    }
}

/// The root file system of an image.
pub struct Files(TempDir);

impl Files {
    pub fn bytes(&self) -> u64 {
        self.all()
            .iter()
            .map(|path| path.symlink_metadata().unwrap())
            .filter(|meta| meta.is_file())
            .map(|meta| meta.len())
            .sum()
    }

    /// Files through which a user may get other rights, as paths in the image.
    pub fn set_user_id_or_writable_by_all(&self) -> Vec<String> {
        let is_risky = |path: &&PathBuf| {
            let meta = path.symlink_metadata().unwrap();
            !meta.is_symlink() && meta.mode() & (SET_USER_OR_GROUP_ID | WRITABLE_BY_ALL) != 0
        };
        let in_image = |path: &PathBuf| format!("/{}", path.strip_prefix(self.0.path()).unwrap().display());
        self.all().iter().filter(is_risky).map(in_image).collect()
    }

    /// `drover` with the image's settings and these arguments, in a mount namespace where only `storage`, the cache and `/tmp`
    /// can be written to. It has the variables of `like`, and a signal to it is a signal to drover.
    pub fn command(&self, like: &tokio::process::Command, storage: &Path, args: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh", "-euc", ENTER, "sh"])
            .arg(self.0.path())
            .arg(storage);
        command.args(["/usr/local/bin", "drover", "--config", "/etc/drover"]).args(args);
        let variables = like.as_std().get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.env_clear().envs(variables).env("DROVER_ENV", "production").env_remove("TMPDIR").env_remove("HOME");
        command.stdin(std::process::Stdio::null()).kill_on_drop(true);
        command
    }

    fn all(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.0.path().to_owned()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.symlink_metadata().unwrap().is_dir() {
                    open.push(path.clone());
                }
                found.push(path);
            }
        }
        found
    }
}

fn tar(args: &[&str], archive: &Path, dir: &Path) {
    let done = Command::new("tar").args(args).arg("--file").arg(archive).arg("--directory").arg(dir).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The hexadecimal part of `sha256:…`.
fn hex(digest: &Value) -> &str {
    digest.as_str().unwrap().strip_prefix("sha256:").unwrap()
}
