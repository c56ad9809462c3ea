//! The configuration's files: those compiled in, and those of one directory, which override them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use super::errors::ConfigErrors;

/// The manual, which is also the schema.
pub const DEFAULT: File<'static> = File::compiled("default", include_str!("../../config/default.toml"));

const ENVIRONMENTS: [File<'static>; 3] = [
    File::compiled("development", include_str!("../../config/development.toml")),
    File::compiled("test", include_str!("../../config/test.toml")),
    File::compiled("production", include_str!("../../config/production.toml")),
];

/// A file's text and what to call it in messages.
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

/// A file of the configuration directory: settings, which are laid over the compiled ones, or data, which replace the compiled file.
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
    pub dutchie: Option<Overlay>,
}

/// The files of one directory; without a directory there are none.
pub struct Directory(Option<PathBuf>);

impl Directory {
    /// `--config DIR`, which must exist; else `./config` where there is one. One that belongs to another account is refused: its
    /// settings name programs that would run under this account.
    pub fn find(named: Option<&Path>, sudo_uid: Option<&str>, errors: &mut ConfigErrors) -> Directory {
        let Some(named) = named else {
            let usual = PathBuf::from("config");
            let Ok(file) = usual.join("default.toml").metadata() else { return Directory(None) };
            let trusted = [Some(geteuid().as_raw()), Some(0), sudo_uid.and_then(|uid| uid.parse().ok())];
            if !trusted.contains(&Some(file.uid())) {
                let problem =
                    format!("belongs to another account (uid {}); to use it, give --config config", file.uid());
                errors.push("./config", "", problem);
            }
            return Directory(Some(usual));
        };
        if !named.is_dir() {
            errors.push("--config", "", format!("{} is not a directory", named.display()));
            return Directory(None);
        }
        Directory(Some(named.to_owned()))
    }

    /// None when there is no such file; one that cannot be read is a fault.
    pub fn read(&self, name: &str, errors: &mut ConfigErrors) -> Option<Overlay> {
        let path = self.0.as_ref()?.join(format!("{name}.toml"));
        match std::fs::read_to_string(&path) {
            Ok(text) => Some(Overlay { path, text }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                errors.push(path.display().to_string(), "", format!("cannot be read: {error}"));
                None
            }
        }
    }

    pub fn overlays(&self, errors: &mut ConfigErrors) -> Overlays {
        Overlays {
            identities: self.read("identities", errors),
            states: self.read("states", errors),
            dutchie: self.read("dutchie", errors),
        }
    }
}

/// The compiled file of an environment; None for one that drover does not define.
pub fn environment(name: &str) -> Option<&'static File<'static>> {
    ENVIRONMENTS.iter().find(|file| file.name == name)
}
