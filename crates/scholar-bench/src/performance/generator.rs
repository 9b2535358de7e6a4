//! The embedded language model beside another engine on the same file, in the same run.

use std::fmt::Write as _;

use serde::Serialize;

use super::or_dash;

/// Speeds of several rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// The fastest round.
    pub best: f64,
    /// The median round.
    pub median: f64,
}

impl Rates {
    /// Of tokens per second in each round; `None` without rounds.
    pub fn of(mut rounds: Vec<f64>) -> Option<Self> {
        rounds.sort_by(f64::total_cmp);
        Some(Self { best: *rounds.last()?, median: rounds[(rounds.len() - 1) / 2] })
    }
}

/// One engine with one length of prompt.
#[derive(Debug, Clone, Serialize)]
pub struct PromptSpeed {
    /// Threads that computed.
    pub threads: usize,
    /// Tokens of the prompt.
    pub prompt: usize,
    /// Tokens of the prompt read in a second.
    pub read: Rates,
    /// Tokens written in a second after it.
    pub written: Rates,
    /// Both in a second of the processor, of all threads together: on a busy machine this says more.
    pub read_cpu: Rates,
    /// See `read_cpu`.
    pub written_cpu: Rates,
    /// Programs that were running or waiting for a core in the last minute.
    pub load: Option<f64>,
}

/// One engine as a whole.
#[derive(Debug, Clone, Serialize)]
pub struct EngineSpeed {
    /// Seconds until the file is open.
    pub open_s: f64,
    /// Seconds to the first token of a prompt whose beginning was read before.
    pub reused_s: f64,
    /// Resident bytes after the longest prompt.
    pub resident_bytes: Option<u64>,
    /// By threads and length of the prompt.
    pub speeds: Vec<PromptSpeed>,
}

/// How far two engines agree on a text.
#[derive(Debug, Clone, Serialize)]
pub struct Agreement {
    /// Tokens whose followers were predicted.
    pub tokens: usize,
    /// Mean Kullback-Leibler divergence of our distribution from the other's, in nats.
    pub mean_kl: f64,
    /// Perplexities, ours and the other's.
    pub perplexity: [f64; 2],
    /// Prompts that were continued greedily.
    pub continuations: usize,
    /// Those whose first tokens are the same.
    pub same: usize,
    /// Those that the other engine itself continues the same when it reads the prompt token by token.
    pub peer_same_stepwise: usize,
    /// Those that it continues the same when it keeps keys and values in f32.
    pub peer_same_precise: usize,
    /// Tokens that were compared.
    pub length: usize,
    /// Where others part: the text so far, our next and the other's next.
    pub differences: Vec<[String; 3]>,
}

/// A prompt of this program with and without guessing from it, or with and without a schema.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// What was asked for.
    pub name: String,
    /// Tokens of prompt and reply.
    pub tokens: [u64; 2],
    /// Tokens written in a second, without and with.
    pub per_s: [f64; 2],
    /// Whether both replies are the same.
    pub same: bool,
}

/// What the machine would allow.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Roofline {
    /// Threads that computed.
    pub threads: usize,
    /// Products in a second that were measured, and that a token of a prompt needs.
    pub products: [f64; 2],
    /// Bytes in a second that were measured, and that a token of a reply needs.
    pub bytes: [f64; 2],
}

/// How fast one thread multiplies quantised weights that lie in its caches.
#[derive(Debug, Clone, Serialize)]
pub struct KernelRate {
    /// The weights' format.
    pub format: &'static str,
    /// The instructions.
    pub instructions: String,
    /// Rows of activations that are multiplied together.
    pub rows: usize,
    /// Products of a weight and an activation in a second.
    pub products_per_s: f64,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub struct GeneratorReport<'a> {
    /// Name of the model.
    pub model: &'a str,
    /// Bytes of its file.
    pub file_bytes: u64,
    /// The machine and the program's version.
    pub machine: &'a str,
    /// This program.
    pub ours: EngineSpeed,
    /// The other engine.
    pub peer: Option<EngineSpeed>,
    /// Versions of the other engine.
    pub versions: serde_json::Value,
    /// Limits by threads.
    pub rooflines: Vec<Roofline>,
    /// Kernels, by format, instructions and rows.
    pub kernels: Vec<KernelRate>,
    /// With the other engine.
    pub agreement: Option<Agreement>,
    /// Guessing from prompts.
    pub lookup: Vec<Comparison>,
    /// Replies that follow a schema.
    pub schema: Vec<Comparison>,
}

impl GeneratorReport<'_> {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let Self { model, file_bytes, machine, peer, versions, .. } = self;
        let mut text = format!(
            "# The embedded language model: {model}\n\nCommand: `openscholar bench generator {model}{}`. The engines take turns in one run; \
             ratios are firmer than rates. File {:.0} MB. Machine: {machine}.\n\n",
            if peer.is_some() { " --peer-python PYTHON" } else { "" },
            *file_bytes as f64 / 1e6,
        );
        self.speeds(&mut text);
        self.engines(&mut text);
        self.limits(&mut text);
        self.kernels(&mut text);
        self.comparisons(&mut text);
        self.agreements(&mut text);
        if peer.is_some() {
            let _infallible = writeln!(text, "\nThe other engine: `{versions}`");
        }
        text
    }

    fn speeds(&self, text: &mut String) {
        text.push_str(
            "Tokens per second by the clock, best (median); ratios of the best (of the medians):\n\n",
        );
        self.rates(text, |speed| [speed.read, speed.written]);
        text.push_str(
            "\nTokens per second of the processor, all threads together, whose work does not depend on what else runs:\n\n",
        );
        self.rates(text, |speed| [speed.read_cpu, speed.written_cpu]);
    }

    fn rates(&self, text: &mut String, rates: fn(&PromptSpeed) -> [Rates; 2]) {
        text.push_str(
            "| threads | prompt | read | the other | ratio | written | the other | ratio | load |\n|---|---|---|---|---|---|---|---|---|\n",
        );
        for speed in &self.ours.speeds {
            let PromptSpeed { threads, prompt, load, .. } = speed;
            let other = self.peer.as_ref().and_then(|peer| {
                peer.speeds.iter().find(|s| (s.threads, s.prompt) == (*threads, *prompt))
            });
            let show = |rates: Rates| format!("{:.1} ({:.1})", rates.best, rates.median);
            let ratio = |ours: Rates, other: Option<Rates>| {
                or_dash(other, |other| {
                    let (best, median) = (ours.best / other.best, ours.median / other.median);
                    format!("{best:.2} ({median:.2})")
                })
            };
            let [read, written] = rates(speed);
            let (other_read, other_written) =
                (other.map(|s| rates(s)[0]), other.map(|s| rates(s)[1]));
            let _infallible = writeln!(
                text,
                "| {threads} | {prompt} | {} | {} | {} | {} | {} | {} | {} |",
                show(read),
                or_dash(other_read, show),
                ratio(read, other_read),
                show(written),
                or_dash(other_written, show),
                ratio(written, other_written),
                or_dash(*load, |load| format!("{load:.0}")),
            );
        }
    }

    fn engines(&self, text: &mut String) {
        text.push_str(
            "\n| engine | open s | first token, prefix re-used, s | resident MB | of the file |\n|---|---|---|---|---|\n",
        );
        let engines = [("ours", Some(&self.ours)), ("the other", self.peer.as_ref())];
        for (name, engine) in engines {
            let Some(EngineSpeed { open_s, reused_s, resident_bytes, speeds: _ }) = engine else {
                continue;
            };
            let _infallible = writeln!(
                text,
                "| {name} | {open_s:.2} | {reused_s:.2} | {} | {} |",
                or_dash(*resident_bytes, |bytes| format!("{:.0}", bytes as f64 / 1e6)),
                or_dash(*resident_bytes, |bytes| {
                    format!("{:.2}", bytes as f64 / self.file_bytes as f64)
                }),
            );
        }
    }

    fn limits(&self, text: &mut String) {
        text.push_str(
            "\nRoofline, from products and reading of memory measured in the same run:\n\n",
        );
        text.push_str(
            "| threads | 10⁹ products/s | prompt tokens/s they allow | reached | GB/s | written tokens/s they allow | reached |\n|---|---|---|---|---|---|---|\n",
        );
        for Roofline { threads, products, bytes } in &self.rooflines {
            let ours = self.ours.speeds.iter().filter(|speed| speed.threads == *threads);
            let best = |rate: fn(&PromptSpeed) -> f64| ours.clone().map(rate).fold(0.0, f64::max);
            let (read, written) = (products[0] / products[1], bytes[0] / bytes[1]);
            let _infallible = writeln!(
                text,
                "| {threads} | {:.0} | {read:.0} | {:.0} % | {:.1} | {written:.1} | {:.0} % |",
                products[0] / 1e9,
                100.0 * best(|speed| speed.read.best) / read,
                bytes[0] / 1e9,
                100.0 * best(|speed| speed.written.best) / written,
            );
        }
    }

    /// A row for each format and set of instructions, a column for each number of rows.
    fn kernels(&self, text: &mut String) {
        let Some(first) = self.kernels.first() else { return };
        let same = |a: &&KernelRate, b: &KernelRate| {
            (a.format, &a.instructions) == (b.format, &b.instructions)
        };
        let rows: Vec<_> = self.kernels.iter().filter(|rate| same(rate, first)).collect();
        text.push_str(
            "\n10⁹ products/s of one thread, weights in its caches, by the rows of activations that are multiplied together:\n\n| weights | instructions |",
        );
        for rate in &rows {
            let _infallible = write!(text, " {} |", rate.rows);
        }
        let _infallible = writeln!(text, "\n|---|---|{}", "---|".repeat(rows.len()));
        for rates in self.kernels.chunk_by(|a, b| same(&a, b)) {
            let _infallible = write!(text, "| {} | {} |", rates[0].format, rates[0].instructions);
            for rate in rates {
                let _infallible = write!(text, " {:.0} |", rate.products_per_s / 1e9);
            }
            text.push('\n');
        }
    }

    fn comparisons(&self, text: &mut String) {
        text.push_str(
            "\n| reply | tokens read, written | tokens/s without | with | ratio | same text |\n|---|---|---|---|---|---|\n",
        );
        for Comparison { name, tokens, per_s, same } in self.lookup.iter().chain(&self.schema) {
            let _infallible = writeln!(
                text,
                "| {name} | {}, {} | {:.1} | {:.1} | {:.2} | {} |",
                tokens[0],
                tokens[1],
                per_s[0],
                per_s[1],
                per_s[1] / per_s[0],
                if *same { "yes" } else { "no" },
            );
        }
    }

    fn agreements(&self, text: &mut String) {
        let Some(agreement) = &self.agreement else { return };
        let Agreement {
            tokens,
            mean_kl,
            perplexity,
            continuations,
            same,
            peer_same_stepwise,
            peer_same_precise,
            length,
            differences,
        } = agreement;
        let _infallible = writeln!(
            text,
            "\nAgreement over {tokens} tokens of the starter papers: mean KL {mean_kl:.5} nats, perplexity {:.4} and {:.4} ({:+.2} %). \
             Greedy continuations of {continuations} starter prompts: {same} are the same for {length} tokens; \
             the other engine against itself, when it reads the prompt token by token: {peer_same_stepwise}, with keys and values in f32: {peer_same_precise}.",
            perplexity[0],
            perplexity[1],
            100.0 * (perplexity[0] / perplexity[1] - 1.0),
        );
        if !differences.is_empty() {
            text.push_str("\n| after | ours goes on | the other |\n|---|---|---|\n");
        }
        for [after, ours, other] in differences {
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
            let _infallible =
                writeln!(text, "| …{} | {} | {} |", cell(after), cell(ours), cell(other));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_ratios_of_both_engines_and_of_the_limits() {
        let engine = |factor: f64| EngineSpeed {
            open_s: 0.5,
            reused_s: 0.25,
            resident_bytes: Some(1_100_000_000),
            speeds: vec![PromptSpeed {
                threads: 2,
                prompt: 512,
                read: Rates::of(vec![30.0 * factor, 50.0 * factor, 40.0 * factor]).unwrap(),
                written: Rates::of(vec![10.0 * factor]).unwrap(),
                read_cpu: Rates::of(vec![25.0 * factor * factor]).unwrap(),
                written_cpu: Rates::of(vec![5.0 * factor]).unwrap(),
                load: Some(3.2),
            }],
        };
        let report = GeneratorReport {
            model: "small",
            file_bytes: 1_000_000_000,
            machine: "a machine",
            ours: engine(2.0),
            peer: Some(engine(1.0)),
            versions: serde_json::json!("1"),
            rooflines: vec![Roofline { threads: 2, products: [2e11, 1e9], bytes: [4e10, 1e9] }],
            kernels: [(1, 2e10), (8, 5e10)]
                .map(|(rows, products_per_s)| KernelRate {
                    format: "Q4_K",
                    instructions: "AVX2".to_owned(),
                    rows,
                    products_per_s,
                })
                .to_vec(),
            agreement: None,
            lookup: vec![Comparison {
                name: "quotations".to_owned(),
                tokens: [100, 20],
                per_s: [10.0, 15.0],
                same: true,
            }],
            schema: Vec::new(),
        };
        let text = report.markdown();
        assert!(
            text.contains("| 2 | 512 | 100.0 (80.0) | 50.0 (40.0) | 2.00 (2.00) | 20.0 (20.0)")
        );
        assert!(text.contains("| 2 | 512 | 100.0 (100.0) | 25.0 (25.0) | 4.00 (4.00) | 10.0 (10.0) | 5.0 (5.0) | 2.00 (2.00) | 3 |"));
        assert!(text.contains("| ours | 0.50 | 0.25 | 1100 | 1.10 |"));
        assert!(text.contains("| 2 | 200 | 200 | 50 % | 40.0 | 40.0 | 50 % |"));
        assert!(text.contains("| weights | instructions | 1 | 8 |\n|---|---|---|---|\n"), "{text}");
        assert!(text.contains("| Q4_K | AVX2 | 20 | 50 |\n"), "{text}");
        assert!(text.contains("| quotations | 100, 20 | 10.0 | 15.0 | 1.50 | yes |"));
    }
}
