// Where `build.rs` puts the library, for the type checker.
export { default } from "htm";
