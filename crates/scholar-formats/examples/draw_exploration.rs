//! Writes how a made answer was found into a folder, to be looked at: `cargo run -p scholar-formats --example draw_exploration -- FOLDER`.

use std::error::Error;
use std::path::PathBuf;

use scholar_formats::exploration::{self, Exploration, steps};
use scholar_testing::exploration as made;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("name a folder")?);
    let hostile = "</text><script>alert(1)</script> & \"quoted\" 'text' \u{202e}reversed\u{1b}[31m";
    for (name, answer) in [
        ("sample", made::sample()),
        ("hostile", made::hostile(hostile)),
        ("many", made::many(400, 20)),
    ] {
        let explored = Exploration::of(&answer).ok_or("an exploration")?;
        let write = |ending: &str, text: String| {
            fs_err::write(folder.join(name).with_extension(ending), text)
        };
        write("svg", exploration::svg(explored))?;
        write("html", exploration::page(explored, "a made answer"))?;
        write("txt", exploration::text(explored))?;
        write("node.txt", exploration::node(explored, "2.1").unwrap_or_default())?;
        let nodes = explored.nodes().iter();
        let mut lines = explored.outline.map(steps::outlined).unwrap_or_default();
        lines.extend(nodes.map(steps::ended));
        write("steps.txt", lines.join("\n"))?;
    }
    Ok(())
}
