//! Links the program of the image for size, where the toolchain brings its own linker: equal functions are kept once,
//! and relocations are packed, which needs the C library of 2022.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let has = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // another linker, as for an older C library, may have neither
    let brings_linker = std::env::var_os("RUSTC_LINKER").is_none()
        && has("CARGO_CFG_TARGET_ARCH", "x86_64")
        && has("CARGO_CFG_TARGET_OS", "linux")
        && has("CARGO_CFG_TARGET_ENV", "gnu");
    // PROFILE is `release` for each profile that inherits from it
    let output = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    if brings_linker && output.components().any(|part| part.as_os_str() == "dist") {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
