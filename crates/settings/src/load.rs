//! Loading: merges default < environment's file < settings kept in a data directory < established variables < `DROVER__…` <
//! flags. In:
//! [`Sources`]. Out: a usable configuration, or all faults at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use config::{ConfigError, ValueKind};

use super::files::{self, DEFAULT, Directory};
use super::layers::{Layer, Schema};
use super::show::{self, Setting};
use super::{Config, ConfigErrors, kept, variables};

const DEFAULT_ENVIRONMENT: &str = "development";

/// Sources of settings beside the compiled files. No `Debug`: variables hold secrets.
#[derive(Clone, Default)]
pub struct Sources {
    /// `--config DIR`; None = `./config` where there is one.
    pub dir: Option<PathBuf>,
    /// The data directory whose service's settings go over the files; `--config DIR` goes over them.
    pub kept_in: Option<PathBuf>,
    /// The environment's variables.
    pub variables: BTreeMap<String, String>,
    pub flags: Vec<Flag>,
}

/// A flag that sets a key: `--role` sets `worker.role`.
#[derive(Clone)]
pub struct Flag {
    pub name: &'static str,
    pub key: &'static str,
    pub value: String,
}

/// A usable configuration, with the origin of each value.
#[derive(Clone, Debug)]
pub struct LoadedConfig {
    pub config: Config,
    pub environment: String,
    /// Every key with its value (secrets masked) and origin, in order.
    pub settings: Vec<Setting>,
}

impl LoadedConfig {
    /// Whether anything but a `default.toml` has set this key.
    pub fn is_changed(&self, key: &str) -> bool {
        !self.origin(key).contains("default.toml")
    }

    /// The file, variable or flag that set this key.
    pub fn origin(&self, key: &str) -> &str {
        self.settings.iter().find(|setting| setting.key == key).map_or("", |setting| setting.origin.as_str())
    }
}

impl Sources {
    /// Takes the variables of this process. One that is not UTF-8 is read with replacement characters.
    pub fn of_process(dir: Option<PathBuf>, flags: Vec<Flag>) -> Sources {
        let all = std::env::vars_os();
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let variables = all.map(|(name, value)| (text(name), text(value))).collect();
        Sources { dir, kept_in: None, variables, flags }
    }

    /// The directory whose files are laid over the compiled ones, where there is one.
    pub fn directory(&self) -> Option<PathBuf> {
        Some(self.dir.clone().unwrap_or_else(|| PathBuf::from(files::USUAL_DIRECTORY))).filter(|dir| dir.is_dir())
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}

impl Config {
    /// Reads all layers; refuses unknown keys, bad values and contradictions, all at once.
    pub fn load(sources: &Sources) -> Result<LoadedConfig, ConfigErrors> {
        let Some(kept_in) = sources.kept_in.as_deref().filter(|_| sources.dir.is_none()) else {
            return Config::load_layers(sources, None);
        };
        // another version may have kept what this one refuses
        Config::load_layers(sources, Some(kept_in)).or_else(|_| Config::load_layers(sources, None))
    }

    fn load_layers(sources: &Sources, kept_in: Option<&Path>) -> Result<LoadedConfig, ConfigErrors> {
        let mut errors = ConfigErrors::default();
        let directory = Directory::find(sources.dir.as_deref(), sources.variable("SUDO_UID"), &mut errors);
        let environment = sources.variable("DROVER_ENV").unwrap_or(DEFAULT_ENVIRONMENT).to_owned();
        let mut stack = Stack::begin(&mut errors);
        stack.files(&directory, &environment, &mut errors);
        stack.layers.extend(kept_in.and_then(|dir| kept::layer(dir, &stack.schema)));
        stack.variables(sources, &mut errors);
        stack.flags(&sources.flags, &mut errors);

        let (mut config, settings) = stack.finish(&mut errors)?;
        config.overlays = directory.overlays(&mut errors);
        config.data_home = data_home(sources);
        errors.into_result()?;
        Ok(LoadedConfig { config, environment, settings })
    }

    /// The defaults with some keys changed, without any file or variable of this machine: for tests and
    /// tools.
    ///
    /// `Config::with(&[("queue.lease", "2s")])`; values are written as in a variable.
    pub fn with(settings: &[(&'static str, &str)]) -> Result<Config, ConfigErrors> {
        let mut errors = ConfigErrors::default();
        let flags: Vec<Flag> =
            settings.iter().map(|&(key, value)| Flag { name: "with", key, value: value.to_owned() }).collect();
        let mut stack = Stack::begin(&mut errors);
        stack.flags(&flags, &mut errors);
        let (mut config, _) = stack.finish(&mut errors)?;
        config.data_home = std::env::temp_dir().join("drover");
        Ok(config)
    }
}

/// The layers read until now, each checked by itself.
struct Stack {
    schema: Schema,
    layers: Vec<Layer>,
}

impl Stack {
    fn begin(errors: &mut ConfigErrors) -> Stack {
        let (schema, defaults) = Schema::read(&DEFAULT.origin(), DEFAULT.text, errors);
        Stack { schema, layers: vec![defaults] }
    }

    fn files(&mut self, directory: &Directory, environment: &str, errors: &mut ConfigErrors) {
        self.overlay(directory, "default", errors);
        let compiled = files::environment(environment);
        if let Some(file) = compiled {
            let layer = self.schema.file(&file.origin(), file.text, errors);
            self.push(layer, errors);
        }
        let found = self.overlay(directory, environment, errors);
        if compiled.is_none() && !found {
            let names = "choose development, test or production, or add that file to the configuration directory";
            errors.push("DROVER_ENV", "", format!("there is no {environment}.toml: {names}"));
        }
    }

    fn overlay(&mut self, directory: &Directory, name: &str, errors: &mut ConfigErrors) -> bool {
        let Some(file) = directory.read(name, errors) else { return false };
        let layer = self.schema.file(&file.path.display().to_string(), &file.text, errors);
        self.push(layer, errors);
        true
    }

    fn variables(&mut self, sources: &Sources, errors: &mut ConfigErrors) {
        let listen = self.text_of("api.listen");
        let established = variables::established(&self.schema, &sources.variables, &listen, errors);
        self.push(established, errors);
        let drover = variables::drover(&self.schema, &sources.variables, errors);
        self.push(drover, errors);
    }

    fn flags(&mut self, flags: &[Flag], errors: &mut ConfigErrors) {
        let mut layer = Layer::default();
        for flag in flags {
            match self.schema.read_text(flag.key, &flag.value) {
                Ok(value) => layer.set(flag.name, flag.key, value),
                Err(problem) => errors.push(flag.name, flag.key, problem),
            }
        }
        self.push(layer, errors);
    }

    /// Adds a layer without the settings that cannot be read. The layer is tried over the defaults alone, so
    /// that a failure is its own; then each of its settings is tried alone, to name the wrong ones.
    fn push(&mut self, layer: Layer, errors: &mut ConfigErrors) {
        if self.try_over_defaults(layer.clone()).is_ok() {
            self.layers.push(layer);
            return;
        }
        let mut good = Vec::new();
        for (key, value) in layer.into_settings() {
            match self.try_over_defaults(Layer::only((key.clone(), value.clone()))) {
                Ok(_) => good.push((key, value)),
                Err(_) if is_empty_variable(&value) => {}
                Err(error) => errors.push(value.origin().unwrap_or_default(), key, plain(&error)),
            }
        }
        self.layers.push(good.into_iter().collect());
    }

    fn try_over_defaults(&self, layer: Layer) -> Result<Config, ConfigError> {
        merge([self.layers[0].clone(), layer])?.try_deserialize()
    }

    fn text_of(&self, key: &str) -> String {
        merge(self.layers.clone()).and_then(|merged| merged.get_string(key)).unwrap_or_default()
    }

    /// The typed configuration; contradictions between settings are added to `errors`, and any error refuses
    /// it.
    fn finish(self, errors: &mut ConfigErrors) -> Result<(Config, Vec<Setting>), ConfigErrors> {
        let merged = match merge(self.layers) {
            Ok(merged) => merged,
            Err(error) => {
                errors.push("", "", plain(&error));
                return Err(std::mem::take(errors));
            }
        };
        let settings = show::settings(&merged);
        match merged.try_deserialize::<Config>() {
            Ok(config) => {
                config.validate(&settings, errors);
                std::mem::take(errors).into_result()?;
                Ok((config, settings))
            }
            Err(error) => {
                errors.push("", "", plain(&error));
                Err(std::mem::take(errors))
            }
        }
    }
}

fn merge(layers: impl IntoIterator<Item = Layer>) -> Result<config::Config, ConfigError> {
    layers.into_iter().fold(config::Config::builder(), |builder, layer| builder.add_source(layer)).build()
}

/// `DROVER__QUEUE__LEASE=` is the same as unset, since the empty string is not a value of that key.
fn is_empty_variable(value: &config::Value) -> bool {
    let from_variable = value.origin().is_some_and(|origin| origin.starts_with("DROVER__"));
    from_variable && value.kind == ValueKind::String(String::new())
}

/// The message without the key and origin that the crate adds: a fault has both already.
fn plain(error: &ConfigError) -> String {
    match error {
        ConfigError::At { error, .. } => plain(error),
        ConfigError::Type { unexpected, expected, .. } => format!("expected {expected}, got {unexpected}"),
        other => other.to_string(),
    }
}

fn data_home(sources: &Sources) -> PathBuf {
    if nix::unistd::geteuid().is_root() {
        return PathBuf::from("/var/lib/drover");
    }
    if let Some(home) = sources.variable("XDG_DATA_HOME") {
        return PathBuf::from(home).join("drover");
    }
    let home = PathBuf::from(sources.variable("HOME").unwrap_or("/var/tmp"));
    let data = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    home.join(data).join("drover")
}
