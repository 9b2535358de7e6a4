//! Seconds of a training step, ours and that of `PyTorch` by turns, so that both meet the same machine; with the features `cuda` and
//! `wgpu` also on GPUs.
//!
//!     cargo run --release -p scholar-train --example step_speed -- MODEL_FOLDER [PYTHON] [SEQUENCES TOKENS STEPS THREADS]
#![expect(clippy::print_stdout, reason = "an example speaks for itself")]

use std::path::Path;
use std::process::Command;

use scholar_train::speed::Workload;
use scholar_train::{DeviceKind, Precision, speed};

/// Seconds that all threads of this process computed, where the system tells: what a busy machine does not blur.
fn cpu_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs_err::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("give a model folder")?;
    let number = |at: usize, otherwise: usize| -> Result<usize, std::num::ParseIntError> {
        arguments.get(at).map_or(Ok(otherwise), |text| text.parse())
    };
    let (sequences, tokens) = (number(2, 16)?, number(3, 256)?);
    let (steps, threads) = (number(4, 4)?, number(5, 2)?);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/peer_step.py");
    println!("{sequences} x {tokens} tokens, best of {steps} steps, {threads} threads");
    for _ in 0..2 {
        let gpus = [
            cfg!(feature = "cuda").then_some(DeviceKind::Cuda),
            cfg!(feature = "wgpu").then_some(DeviceKind::Wgpu),
        ];
        let cpu = [Precision::F32, Precision::Mixed].map(|p| (DeviceKind::Cpu, p));
        let gpus = gpus.into_iter().flatten().map(|gpu| (gpu, Precision::F32));
        for (device, precision) in cpu.into_iter().chain(gpus) {
            let before = cpu_seconds();
            let workload = Workload { sequences, tokens, steps, device, threads, precision };
            let found = speed::measure(Path::new(folder), workload)?;
            let best = found.seconds.iter().copied().fold(f64::INFINITY, f64::min);
            let spent = (cpu_seconds() - before) / steps as f64;
            println!("ours, {}: {best:.4} s, {spent:.4} s of CPU", found.device);
        }
        if let Some(python) = arguments.get(1).filter(|python| !python.is_empty()) {
            let numbers = [sequences, tokens, steps, threads].map(|number| number.to_string());
            let output = Command::new(python).arg(&script).arg(folder).args(numbers).output()?;
            print!("{}", String::from_utf8_lossy(&output.stdout));
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
            }
        }
    }
    Ok(())
}
