//! The configuration's files: the compiled-in ones, and the files of one directory, which override them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use nix::unistd::geteuid;

use super::errors::ConfigErrors;
use super::platforms::DEFAULTS;
use domain::store::per_platform::PerPlatform;

/// The manual, which is also the schema.
pub const DEFAULT: File<'static> = File::compiled("default", DEFAULTS);

/// Directory that is read where none is named.
pub const USUAL_DIRECTORY: &str = "config";

const ENVIRONMENTS: [File<'static>; 3] = [
    File::compiled("development", include_str!("../../../config/development.toml")),
    File::compiled("test", include_str!("../../../config/test.toml")),
    File::compiled("production", include_str!("../../../config/production.toml")),
];

const WRITABLE_BY_ALL: u32 = 0o002;

/// A file's text and its name in messages.
pub struct File<'a> {
    name: &'a str,
    pub text: &'a str,
}

impl File<'static> {
    const fn compiled(name: &'static str, text: &'static str) -> Self {
        File { name, text }
    }

    pub fn origin(&self) -> String {
        format!("{}.toml (built in)", self.name)
    }
}

/// A file of the configuration directory: settings, which are laid over the compiled ones, or data, which
/// replace the compiled file.
#[derive(Clone, Debug)]
pub struct Overlay {
    pub path: PathBuf,
    pub text: String,
}

/// The data files that the directory holds; where there is none, the compiled one is used.
#[derive(Clone, Debug, Default)]
pub struct Overlays {
    pub identities: Option<Overlay>,
    pub states: Option<Overlay>,
    pub platforms: PerPlatform<Option<Overlay>>,
    pub categories: Option<Overlay>,
}

/// The files of one directory; without a directory there are none.
#[derive(Default)]
pub struct Directory {
    path: Option<PathBuf>,
    /// Accounts that may own its files; None = any account, since the directory was named.
    owners: Option<Vec<u32>>,
}

impl Directory {
    /// `--config DIR`, which must exist; else `./config` where there is one. One that another account may
    /// change is refused: its settings name programs that would run under this account.
    pub fn find(named: Option<&Path>, sudo_uid: Option<&str>, errors: &mut ConfigErrors) -> Directory {
        let Some(named) = named else { return Directory::usual(sudo_uid, errors) };
        if !named.is_dir() {
            errors.push("--config", "", format!("{} is not a directory", named.display()));
            return Directory::default();
        }
        Directory { path: Some(named.to_owned()), owners: None }
    }

    fn usual(sudo_uid: Option<&str>, errors: &mut ConfigErrors) -> Directory {
        let path = PathBuf::from(USUAL_DIRECTORY);
        if !path.join("default.toml").exists() {
            return Directory::default();
        }
        let by_sudo = sudo_uid.and_then(|uid| uid.parse().ok());
        let owners: Vec<u32> = [geteuid().as_raw(), 0].into_iter().chain(by_sudo).collect();
        let checked = path.symlink_metadata().map_err(unreadable).and_then(|found| check_owner(&found, &owners));
        if let Err(problem) = checked {
            errors.push("./config", "", problem);
            return Directory::default();
        }
        Directory { path: Some(path), owners: Some(owners) }
    }

    /// None when there is no such file; one that cannot be read is a fault.
    pub fn read(&self, name: &str, errors: &mut ConfigErrors) -> Option<Overlay> {
        let path = self.path.as_ref()?.join(format!("{name}.toml"));
        let file = match fs::File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            opened => opened,
        };
        match file.map_err(unreadable).and_then(|file| self.text_of(file)) {
            Ok(text) => Some(Overlay { path, text }),
            Err(problem) => {
                errors.push(path.display().to_string(), "", problem);
                None
            }
        }
    }

    /// A link is followed: only an account that may change the directory can have put it there.
    fn text_of(&self, file: fs::File) -> Result<String, String> {
        if let Some(owners) = &self.owners {
            check_owner(&file.metadata().map_err(unreadable)?, owners)?;
        }
        io::read_to_string(file).map_err(unreadable)
    }

    pub fn overlays(&self, errors: &mut ConfigErrors) -> Overlays {
        Overlays {
            identities: self.read("identities", errors),
            states: self.read("states", errors),
            platforms: PerPlatform::made(|platform| self.read(platform.name(), errors)),
            categories: self.read("categories", errors),
        }
    }
}

/// Whether only `owners` can change the content of the file or directory.
fn check_owner(found: &fs::Metadata, owners: &[u32]) -> Result<(), String> {
    let problem = if found.is_symlink() {
        "is a link".to_owned()
    } else if !owners.contains(&found.uid()) {
        format!("belongs to another account (uid {})", found.uid())
    } else if found.mode() & WRITABLE_BY_ALL != 0 {
        "may be changed by every account".to_owned()
    } else {
        return Ok(());
    };
    Err(format!("{problem}; to use it, give --config config"))
}

fn unreadable(error: io::Error) -> String {
    format!("cannot be read: {error}")
}

/// The compiled file of an environment; None for one that drover does not define.
pub fn environment(name: &str) -> Option<&'static File<'static>> {
    ENVIRONMENTS.iter().find(|file| file.name == name)
}
