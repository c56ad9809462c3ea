//! Links optimised programs for size, where the toolchain brings its own linker: equal functions are kept once, and
//! relocations are packed.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let has = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let brings_linker = has("CARGO_CFG_TARGET_ARCH", "x86_64")
        && has("CARGO_CFG_TARGET_OS", "linux")
        && has("CARGO_CFG_TARGET_ENV", "gnu");
    if brings_linker && has("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
