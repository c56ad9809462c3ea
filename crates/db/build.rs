//! Lists the files of `migrations/` for `migrate`, so that adding one needs no code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let migrations = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../migrations");
    list_migrations(&migrations, &PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()))
}

fn list_migrations(migrations: &Path, out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", migrations.display());
    let mut code = String::new();
    for (constant, folder) in [("MIGRATIONS", migrations.to_owned()), ("OBJECTS", migrations.join("objects"))] {
        let _ = writeln!(code, "const {constant}: &[(&str, &str)] = &[");
        for file in sql_files(&folder)? {
            let name = file.file_stem().unwrap_or_default();
            let _ = writeln!(code, "    ({name:?}, include_str!({file:?})),");
        }
        let _ = writeln!(code, "];");
    }
    let revision = fs::read_to_string(migrations.join("objects/REVISION"))?;
    let _ = writeln!(code, "const OBJECTS_REVISION: &str = {revision:?};");
    fs::write(out.join("migrations.rs"), code)
}

/// Lists the files in the order of their names; a missing folder has none.
fn sql_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    Ok(files)
}
