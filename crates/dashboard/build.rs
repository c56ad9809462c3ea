//! Gathers the dashboard: the files of `ui/` and the libraries that its lock file names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Files of `ui/` that the dashboard's server needs.
const UI_FILES: [&str; 9] =
    ["app.js", "core", "css", "icon.svg", "index.html", "pages", "pages.js", "parts", "theme.js"];
/// Path of each library in its package, and the name by which the pages call it.
const UI_LIBRARIES: [(&str, &str); 3] = [
    ("preact/dist/preact.mjs", "preact.js"),
    ("preact/hooks/dist/hooks.mjs", "hooks.js"),
    ("htm/dist/htm.mjs", "htm.js"),
];

fn main() -> io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(has_dashboard, dashboard_on_disk)");
    if env::var_os("CARGO_FEATURE_PAGES").is_none() {
        return Ok(());
    }
    let ui = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../ui").canonicalize()?;
    gather_dashboard(&ui, &PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()))
}

/// Writes `ui.rs`, which says where the dashboard's files are; without its libraries there is none, and
/// everything else is built.
///
/// A release build, or one with the feature `embedded`, embeds them, minified. A debug build reads them from
/// `ui/`, so that a changed one compiles nothing.
fn gather_dashboard(ui: &Path, out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", ui.join("package-lock.json").display());
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let built = libraries(ui, &out.join("npm")).and_then(|modules| {
        match is_release || env::var_os("CARGO_FEATURE_EMBEDDED").is_some() {
            true => embed_files(ui, &modules, out),
            false => point_to_files(ui, &modules, out).map_err(|error| error.to_string()),
        }
    });
    match built {
        Ok(()) => println!("cargo::rustc-cfg=has_dashboard"),
        Err(fault) => {
            // a file that is not there: cargo asks again at the next build
            println!("cargo::rerun-if-changed={}", ui.join("vendor/is-missing").display());
            println!("cargo::warning=drover is built without its dashboard: {fault}");
        }
    }
    Ok(())
}

fn point_to_files(ui: &Path, modules: &Path, out: &Path) -> io::Result<()> {
    println!("cargo::rustc-cfg=dashboard_on_disk");
    copy_libraries(modules, &out.join("vendor"))?;
    let mut code = "const FOLDERS: &[(&str, &str)] = &[\n".to_owned();
    for name in UI_FILES {
        let _ = writeln!(code, "    ({name:?}, {ui:?}),");
    }
    let _ = writeln!(code, "    (\"vendor\", {out:?}),\n];");
    fs::write(out.join("ui.rs"), code)
}

fn embed_files(ui: &Path, modules: &Path, out: &Path) -> Result<(), String> {
    let gathered = out.join("ui");
    let gather = || -> io::Result<()> {
        if gathered.exists() {
            fs::remove_dir_all(&gathered)?;
        }
        for name in UI_FILES {
            println!("cargo::rerun-if-changed={}", ui.join(name).display());
            copy(&ui.join(name), &gathered.join(name))?;
        }
        copy_libraries(modules, &gathered.join("vendor"))
    };
    gather().map_err(|error| error.to_string())?;
    minify(modules, &gathered)?;
    list_files(&gathered, out).map_err(|error| error.to_string())
}

fn list_files(gathered: &Path, out: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    files_below(gathered, &mut files)?;
    files.sort();
    let mut code = "const FILES: &[(&str, &[u8])] = &[\n".to_owned();
    for file in files {
        let name = file.strip_prefix(gathered).unwrap_or(&file);
        let _ = writeln!(code, "    ({name:?}, include_bytes!({file:?})),");
    }
    code += "];\n";
    fs::write(out.join("ui.rs"), code)
}

/// The directory of the packages, as `npm ci` made it from the lock file.
fn libraries(ui: &Path, npm: &Path) -> Result<PathBuf, String> {
    let modules = npm.join("node_modules");
    let lock = fs::read(ui.join("package-lock.json")).map_err(|error| error.to_string())?;
    let installed = fs::read(npm.join("installed.json")).unwrap_or_default();
    if lock == installed && modules.exists() {
        return Ok(modules);
    }
    fs::create_dir_all(npm).map_err(|error| error.to_string())?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(ui.join(name), npm.join(name)).map_err(|error| error.to_string())?;
    }
    let run = Command::new("npm")
        .args(["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(npm)
        .output()
        .map_err(|error| format!("npm does not run ({error}): install Node.js with npm, and build again"))?;
    if !run.status.success() {
        let fault = String::from_utf8_lossy(&run.stderr).lines().take(3).collect::<Vec<_>>().join("; ");
        return Err(format!("npm could not get its libraries ({fault}): see to npm, and build again"));
    }
    fs::write(npm.join("installed.json"), lock).map_err(|error| error.to_string())?;
    Ok(modules)
}

/// A browser knows no package names: the one import between the libraries becomes a path.
fn copy_libraries(modules: &Path, vendor: &Path) -> io::Result<()> {
    fs::create_dir_all(vendor)?;
    for (file, name) in UI_LIBRARIES {
        let text = fs::read_to_string(modules.join(file))?;
        fs::write(vendor.join(name), text.replace("from\"preact\"", "from\"./preact.js\""))?;
    }
    Ok(())
}

/// Each file by itself, in its place.
fn minify(modules: &Path, gathered: &Path) -> Result<(), String> {
    let mut files = Vec::new();
    files_below(gathered, &mut files).map_err(|error| error.to_string())?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "js" || extension == "css"));
    let run = Command::new(modules.join(".bin/esbuild"))
        .args(["--minify", "--charset=utf8", "--log-level=warning", "--allow-overwrite"])
        .args([format!("--outdir={}", gathered.display()), format!("--outbase={}", gathered.display())])
        .args(files)
        .output()
        .map_err(|error| format!("esbuild does not run ({error})"))?;
    match run.status.success() {
        true => Ok(()),
        false => Err(format!("esbuild failed: {}", String::from_utf8_lossy(&run.stderr))),
    }
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files_below(&path, found)?,
            false => found.push(path),
        }
    }
    Ok(())
}

/// Copies scripts without the indentation, which a minifier keeps in templates; rendering ignores it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    match from.extension().is_some_and(|extension| extension == "js") {
        true => fs::write(
            to,
            fs::read_to_string(from)?.lines().map(|line| line.trim_start().to_owned() + "\n").collect::<String>(),
        ),
        false => fs::copy(from, to).map(|_| ()),
    }
}
