//! Measures the embedded generator: `gguf_speed FILE [PROMPT_WORDS] [REPLY_TOKENS]`.
//!
//! Prints the time until the first piece of text for a fresh prompt, the same for the prompt again with another
//! ending, and the speed of writing, by the clock and by CPU time: on a busy machine the second says more. For numbers
//! beside another engine there is `openscholar bench generator`.
#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use parking_lot::Mutex;
use scholar_core::{GenerationRequest, Generator as _, Message, OutputShape, Sampling};
use scholar_models::gguf::{GgufGenerator, GgufOptions};

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().context("usage: gguf_speed FILE [PROMPT_WORDS] [REPLY_TOKENS]")?;
    let words: usize = args.next().map_or(Ok(500), |n| n.parse())?;
    let max_tokens: usize = args.next().map_or(Ok(64), |n| n.parse())?;

    let started = Instant::now();
    let generator = GgufGenerator::open(Path::new(&path), GgufOptions::laptop())?;
    println!("open          {:>8.2} s", started.elapsed().as_secs_f64());
    let ask = |content: String, max_tokens: usize| -> anyhow::Result<_> {
        let request = GenerationRequest {
            purpose: "speed".to_owned(),
            messages: vec![Message::user(content)],
            sampling: Sampling::greedy(max_tokens),
            shape: OutputShape::Text,
        };
        let started = Instant::now();
        let cpu = cpu_seconds()?;
        let now = || -> anyhow::Result<[f64; 2]> {
            Ok([started.elapsed().as_secs_f64(), cpu_seconds()? - cpu])
        };
        let first = Mutex::new(None);
        let on_text = |_: &str| {
            first.lock().get_or_insert_with(now);
        };
        let reply = futures::executor::block_on(generator.generate(&request, &on_text))?;
        let total = now()?;
        let first = first.into_inner().transpose()?.unwrap_or(total);
        Ok((reply, first, total))
    };

    let (_, _, seconds) = ask("Say yes.".to_owned(), 1)?;
    println!(
        "ready         {:>8.2} s, {:.2} s of CPU   resident {} MiB",
        seconds[0],
        seconds[1],
        resident_mib()?
    );
    let passage = ["magnetic", "nanoparticles", "deliver", "drugs", "to", "tumours", "and", "the"];
    let passage: Vec<&str> = passage.into_iter().cycle().take(words).collect();
    for question in ["What is this text about?", "Which organ is named in this text?"] {
        let (reply, first, total) = ask(format!("{}\n{question}", passage.join(" ")), max_tokens)?;
        let written = reply.usage.completion - 1;
        for (name, first, total) in [("clock", first[0], total[0]), ("CPU", first[1], total[1])] {
            println!(
                "prompt {:>6}  {name:>9}: {first:>7.2} s to first text, {:>6.1} tok/s read; {written} more at {:.2} tok/s",
                reply.usage.prompt,
                reply.usage.prompt as f64 / first,
                written as f64 / (total - first),
            );
        }
        println!("  {:?}", reply.text);
    }
    println!("resident      {:>8} MiB", resident_mib()?);
    Ok(())
}

/// Resident memory as Linux counts it.
fn resident_mib() -> anyhow::Result<u64> {
    let status = fs_err::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS line")?;
    let kib: u64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
    Ok(kib / 1024)
}

/// CPU time of all threads so far, in user and kernel mode, as Linux counts it (hundredths of a second).
fn cpu_seconds() -> anyhow::Result<f64> {
    let stat = fs_err::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').context("no command name in stat")?.1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    Ok(ticks.sum::<Result<u64, _>>()? as f64 / 100.0)
}
