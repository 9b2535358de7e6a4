//! `bench scholarideas compare`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use scholar_bench::scholarideas::compare::{System, compare, ideas_of, markdown};
use scholar_bench::scholarideas::coverage::read_grades;

use super::{names_of, table};
use crate::app::App;
use crate::args::CompareArgs;
use crate::commands::bench::publish;
use crate::error::{CommandError, Context as _};

pub(super) fn run(args: &CompareArgs, app: &App) -> Result<ExitCode, CommandError> {
    let paths: Vec<&Path> = args.grades.iter().map(AsRef::as_ref).collect();
    let names = names_of(&args.names, &paths)?;
    let systems: Vec<System> = paths
        .iter()
        .zip(names)
        .map(|(path, name)| {
            let grades = read_grades(&table(path)?)
                .user(|| format!("{} is not a file of grades", path.display()))?;
            Ok(System { name, grades })
        })
        .collect::<Result<_, CommandError>>()?;
    let (all, some) = ideas_of(&systems);
    let compared = compare(&systems);
    let files: Vec<String> = paths
        .iter()
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let mut text = format!(
        "# Coverage on ScholarIdeas\n\nCommand: `openscholar bench scholarideas compare {}`\n\n{} ideas have grades of every system",
        files.join(" "),
        all.len()
    );
    if !some.is_empty() {
        // Writing to a string cannot fail.
        let _infallible = write!(text, "; {} have grades of some only", some.len());
    }
    let _infallible = write!(text, ".\n\n{}", markdown(&compared));
    let mut json = serde_json::to_value(&compared).user(|| "cannot write JSON".to_owned())?;
    json["ideas"] = serde_json::json!({"of_all": all, "of_some": some});
    publish("scholarideas", &text, &json, args.out.as_deref(), app)
}
