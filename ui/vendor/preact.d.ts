// Where `build.rs` puts the library, for the type checker.
export * from "preact";
