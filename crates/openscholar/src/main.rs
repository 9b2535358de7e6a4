//! The `openscholar` program: arguments, configuration, wiring, printing.

mod app;
mod args;
mod commands;
mod config;
mod env;
mod error;
mod home;
mod output;
mod printer;
mod private;
mod progress;
mod proof;
mod resident;
mod runs;
mod source_page;
mod starter;
mod stop;
mod wiring;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;

use crate::app::App;
use crate::args::{Args, Command};
use crate::error::{CommandError, ErrorKind};

fn main() -> ExitCode {
    printer::print_panics();
    let typed = env::arguments();
    if let Some(unknown) = args::unknown_command(&typed) {
        return printer::unknown_command(&unknown.word, &unknown.near);
    }
    let words = args::with_default_verb(typed);
    let former: Vec<String> =
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let args = match Args::try_parse_from(words) {
        Ok(args) => args,
        Err(error) => return printer::usage(&error),
    };
    let printer = printer::Printer::new(&args.global, env::no_color());
    init_tracing(args.global.verbose);
    for notice in args::former_names(&former) {
        printer.say(&notice);
    }
    let outcome = run(args, &printer);
    match outcome {
        Ok(code) => code,
        Err(error) => printer.error(&error),
    }
}

fn run(args: Args, printer: &printer::Printer) -> Result<ExitCode, CommandError> {
    let Args { global, command } = args;
    let app = Arc::new(App::new(global, command.is_offline(), printer.clone())?);
    let stop = app.stop.clone();
    let ended = match command {
        Command::Ask(args) => commands::ask::run(*args, &app),
        Command::Review(args) => commands::review::run(*args, &app),
        Command::Search(args) => commands::search::run(*args, &app),
        Command::Papers(args) => commands::papers::run(args, &app),
        Command::Datastore(args) => commands::datastore::run(args, &app),
        Command::Models(args) => commands::models::run(args, &app),
        Command::Runs(args) => commands::runs::run(args, &app),
        Command::Serve(args) => commands::serve::run(*args, &app),
        Command::Bench(args) => commands::bench::run(args, &app),
        Command::Train(args) => commands::train::run(args, &app),
        Command::Doctor(args) => commands::doctor::run(args, &app),
        Command::Completions(args) => commands::completions::run(args, &app),
        Command::CliDocs => commands::cli_docs::run(&app),
    };
    // Scripts and service managers ask which signal it was.
    ended.map_err(|error| match stop.exit_code() {
        Some(code) if error.kind == ErrorKind::Interrupted => error.with_code(code),
        _ => error,
    })
}

fn init_tracing(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = tracing_subscriber::EnvFilter::new(format!(
        "scholar_core={level},scholar_models={level},scholar_datastore={level},scholar_clients={level},\
         scholar_pipeline={level},scholar_review={level},scholar_server={level},openscholar={level},error"
    ));
    // A second initialisation only happens in tests, where the first one serves as well.
    let _already = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(|| printer::LogLines)
        .try_init();
}
