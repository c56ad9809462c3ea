//! Describes ids to `utoipa`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    schema_ids::describe();
}
