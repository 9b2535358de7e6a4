//! `openscholar cli-docs` (hidden): prints docs/cli.md from the command line's own definition.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::app::App;
use crate::args::Args;
use crate::error::CommandError;

pub(crate) fn run(app: &App) -> Result<ExitCode, CommandError> {
    app.printer.out(render().trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// How a section begins.
const SECTION: &str = "\n## `";

/// The whole page.
fn render() -> String {
    let mut page = "# The command line\n\nMade by `openscholar cli-docs`; a test keeps it true.\n\n\
        Exit codes: 0 done, 1 something you can change, 2 wrong usage, 3 a server or download is not to be had, \
        4 answered with missing evidence, 70 a bug, 130 interrupted (143 by SIGTERM, 129 by SIGHUP; a run continues with `ask --resume`).\n\n\
        Every command also takes `--home`, `--config`, `--json`, `--quiet`, `--verbose` and `--help`, described in the first section only.\n"
        .to_owned();
    let mut root = Args::command().term_width(100);
    root.build();
    section(&root, "openscholar", &mut page);
    page
}

fn section(command: &clap::Command, path: &str, page: &mut String) {
    let mut shown = command.clone().term_width(100);
    if page.contains(SECTION) {
        // What every command takes stands in the first section.
        let shared = command.get_arguments().filter(|arg| {
            arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str())
        });
        for arg in shared.map(|arg| arg.get_id().clone()).collect::<Vec<_>>() {
            shown = shown.mut_arg(arg, |arg| arg.hide(true));
        }
    }
    let help = shown.render_long_help().to_string();
    let help: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let _infallible = write!(page, "{SECTION}{path}`\n\n```text\n{}\n```\n", help.trim());
    for verb in
        command.get_subcommands().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set())
    {
        section(verb, &format!("{path} {}", verb.get_name()), page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_fresh() {
        let stored = include_str!("../../../../docs/cli.md");
        assert!(
            stored.trim_end() == render().trim_end(),
            "run: openscholar cli-docs > docs/cli.md"
        );
    }
}
