//! Decides whether tests that mostly wait, such as for the installation of an image, are among the others or are ignored.
//!
//! In: the variable `DROVER_SLOW_TESTS`. Out: `cfg(slow_tests)`.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(slow_tests)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DROVER_SLOW_TESTS");
    if std::env::var_os("DROVER_SLOW_TESTS").is_some() {
        println!("cargo::rustc-cfg=slow_tests");
    }
}
