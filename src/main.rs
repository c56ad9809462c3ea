//! Arguments, configuration, command: everything else is in the library.

fn main() -> std::process::ExitCode {
    drover::cli::main()
}
