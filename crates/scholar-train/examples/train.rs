//! Trains from a config file without the program around it.
//!
//!     cargo run --release -p scholar-train --example train -- attributor train.toml OUT
#![expect(clippy::print_stderr, reason = "an example speaks for itself")]

use std::path::Path;

use scholar_train::{Control, Event, Settings, Task, train};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, config, out] = &arguments[..] else {
        return Err("give the task, a config file and an output folder".into());
    };
    let task = match task.as_str() {
        "encoder" => Task::Encoder,
        "reranker" => Task::Reranker,
        "attributor" => Task::Attributor,
        other => return Err(format!("there is no task {other:?}").into()),
    };
    let settings = Settings::read(Path::new(config), task)?;
    let report = train(&settings, Path::new(out), None, &mut |event| {
        match event {
            Event::Began { rows, held_out, rejected, from, device, .. } => {
                let rejected = rejected.len();
                eprintln!(
                    "{rows} rows, {held_out} held out, {rejected} left out, from step {from}, {device}"
                );
            }
            Event::Step(progress) if progress.step % 10 == 0 => eprintln!(
                "step {}/{} loss {:.4} {:.0} tokens/s {:.0} s left",
                progress.step,
                progress.steps,
                progress.loss,
                progress.tokens_per_second,
                progress.seconds_left
            ),
            Event::Step(_) => {}
            Event::Evaluated { step, values, best } => {
                eprintln!("after {step}: {values:?}{}", if *best { " best" } else { "" });
            }
        }
        Control::Continue
    })?;
    eprintln!("{report:?}");
    Ok(())
}
