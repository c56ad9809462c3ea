//! Lists the files of `migrations/` for `db::migrate`, so that adding one needs no code; and tells `utoipa` what ids are.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Other names of i64, which the OpenAPI document shows as what they are.
const IDS: [&str; 7] = ["PayloadId", "ProbeNumber", "ProductId", "ProxyId", "StoreId", "TaskId", "TokenId"];

fn main() -> io::Result<()> {
    IDS.iter().fold(utoipa_config::Config::new(), |config, id| config.alias_for(id, "i64")).write_to_file();
    println!("cargo::rerun-if-changed=migrations");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut code = String::new();
    for (constant, folder) in [("MIGRATIONS", "migrations"), ("OBJECTS", "migrations/objects")] {
        let _ = writeln!(code, "const {constant}: &[(&str, &str)] = &[");
        for file in sql_files(&root.join(folder))? {
            let name = file.file_stem().unwrap_or_default();
            let _ = writeln!(code, "    ({name:?}, include_str!({file:?})),");
        }
        let _ = writeln!(code, "];");
    }
    let revision = fs::read_to_string(root.join("migrations/objects/REVISION"))?;
    let _ = writeln!(code, "const OBJECTS_REVISION: &str = {revision:?};");
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("migrations.rs"), code)
}

/// In the order of their names; a missing folder has none.
fn sql_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    Ok(files)
}
