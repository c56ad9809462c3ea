//! Arguments, configuration, command: everything else is in the library.

use drover::db::embedded;

fn main() -> std::process::ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some(embedded::KEEPER_ARG) => embedded::keeper_main(args),
        _ => drover::cli::main(),
    }
}
