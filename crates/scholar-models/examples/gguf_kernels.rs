//! Measures the kernels of the embedded generator: `gguf_kernels [ROWS ...]`.
#![expect(clippy::print_stdout, reason = "a measurement is printed")]

fn main() -> anyhow::Result<()> {
    let rows: Vec<usize> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    let rows = if rows.is_empty() { vec![1, 2, 4, 8, 64, 256] } else { rows };
    for speed in scholar_models::gguf::kernel_speeds(&rows)? {
        println!(
            "{} {} {:>4} rows: {:>6.1}e9 products/s",
            speed.format,
            speed.level,
            speed.rows,
            speed.products_per_s / 1e9
        );
    }
    Ok(())
}
