//! Arguments, configuration, command: everything else is in the library.

#[global_allocator]
static ALLOCATOR: drover::Allocator = drover::Allocator;

fn main() -> std::process::ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some(private_server::KEEPER_ARG) => private_server::keeper_main(args),
        _ => drover::cli::main(),
    }
}
