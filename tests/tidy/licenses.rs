//! The licenses of all dependencies, held against those that `deny.toml` allows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};

use super::{assert_none, root};

#[test]
fn every_dependency_has_an_allowed_license() {
    let rules = fs::read_to_string(root().join("deny.toml")).unwrap().parse::<toml::Table>().unwrap();
    let licenses = rules["licenses"].as_table().unwrap();
    let allowed = texts(&licenses["allow"]);
    let mut wrong = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap().to_owned();
        let own = licenses["exceptions"].as_array().unwrap().iter().find(|one| one["crate"].as_str() == Some(&name));
        let own = own.map(|exception| texts(&exception["allow"])).unwrap_or_default();
        let license = license(&package);
        let expression = Expression::parse_mode(&license, ParseMode::LAX).unwrap();
        let is_allowed = |required: &LicenseReq| {
            let id = required.license.to_string();
            allowed.contains(&id) || own.contains(&id)
        };
        if !expression.evaluate(is_allowed) {
            wrong.push(format!("{name}: {license}"));
        }
    }
    assert_none(wrong);
}

/// The packages that a build on this machine has, our own left out.
fn packages() -> Vec<Value> {
    let options = ["metadata", "--locked", "--format-version", "1", "--filter-platform", "host-tuple"];
    let output = Command::new(env!("CARGO")).args(options).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let Value::Array(mut packages) = metadata["packages"].take() else { panic!("no packages") };
    packages.retain(|package| !package["source"].is_null());
    assert!(packages.len() > 100, "{} packages", packages.len());
    packages
}

/// The package's SPDX expression. A package without one has a file, which must begin with the license's name.
fn license(package: &Value) -> String {
    if let Some(expression) = package["license"].as_str() {
        return expression.to_owned();
    }
    let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
    let text = fs::read_to_string(folder.join(package["license_file"].as_str().unwrap())).unwrap();
    text.lines().next().unwrap().trim_end_matches(" License").to_owned()
}

fn texts(list: &toml::Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
