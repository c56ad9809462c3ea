//! `DataFiles`: identities, states, categories and the platforms' data, shipped or from the configuration directory.
//!
//! In: the configuration. Out: all of them, or every fault of any of them, by file.

use crate::platforms::{PlatformRegistry, categories};
use crate::stealth::{Identities, States};
use domain::menu::category::Categories;
use settings::{Config, ConfigErrors, Overlay};

pub struct DataFiles {
    pub identities: Identities,
    pub states: States,
    pub platforms: PlatformRegistry,
    pub categories: Categories,
}

impl DataFiles {
    pub fn load(config: &Config) -> Result<DataFiles, ConfigErrors> {
        let files = &config.overlays;
        let identities = Identities::load(text(&files.identities)).map_err(|error| error.errors);
        let states = States::load(text(&files.states)).map_err(|error| error.errors);
        // also without states, so that the faults of all files are named
        let platforms = PlatformRegistry::new(config, states.as_ref().unwrap_or(&States::default()));
        let categories = categories::load(text(&files.categories));

        let mut errors = ConfigErrors::default();
        note(&mut errors, &files.identities, identities.as_ref().err());
        note(&mut errors, &files.states, states.as_ref().err());
        note(&mut errors, &files.categories, categories.as_ref().err());
        match (identities, states, platforms, categories) {
            (Ok(identities), Ok(states), Ok(platforms), Ok(categories)) => {
                Ok(DataFiles { identities, states, platforms, categories })
            }
            (_, _, platforms, _) => {
                errors.extend(platforms.err());
                Err(errors)
            }
        }
    }
}

fn text(file: &Option<Overlay>) -> Option<&str> {
    file.as_ref().map(|file| file.text.as_str())
}

fn note(errors: &mut ConfigErrors, file: &Option<Overlay>, problems: Option<&Vec<String>>) {
    let file = file.as_ref().map_or_else(String::new, |file| file.path.display().to_string());
    for problem in problems.into_iter().flatten() {
        errors.push(&file, "", problem.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlay(name: &str, text: &str) -> Option<Overlay> {
        Some(Overlay { path: name.into(), text: text.to_owned() })
    }

    #[test]
    fn the_shipped_files_are_good() {
        assert!(DataFiles::load(&Config::with(&[]).unwrap()).is_ok());
    }

    #[test]
    fn every_wrong_file_is_named() {
        let mut config = Config::with(&[]).unwrap();
        config.overlays.identities = overlay("x/identities.toml", "nonsense = 1");
        config.overlays.states = overlay("x/states.toml", "ZZ = 3");
        config.overlays.platforms.dutchie = overlay("x/dutchie.toml", "schema = 999");
        config.overlays.platforms.dutchie_plus = overlay("x/dutchie_plus.toml", "schema = 999");
        let odd = "[flower]\ntitle = 'Flower'\nmeasure = 'mass'\ncovers = ['dutchi:Flower']";
        config.overlays.categories = overlay("x/categories.toml", odd);
        let message = DataFiles::load(&config).err().unwrap().to_string();
        let files = ["identities", "states", "dutchie", "dutchie_plus", "categories"];
        for file in files.map(|file| format!("x/{file}.toml: ")) {
            assert!(message.contains(&file), "{message}");
        }
        assert!(message.contains("'dutchi:Flower' is of no platform"), "{message}");
    }
}
