//! The stand-in by itself, for trying the program by hand.
//!
//! `cargo run -p scholar-testing --example standin -- [ROUTE=FAULT…]` prints the settings that lead every client to it,
//! ready for `eval`, and answers until its input ends. Faults: a status, `429:SECONDS`, `html`, `gzip`, `truncated`,
//! `nulls`, `duplicate`, `loop`, `drip`, `hang`; every request whose address contains the route gets it.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use scholar_testing::{Calls, Fault, StandIn};

fn main() -> Result<(), Box<dyn Error>> {
    let server = StandIn::start()?;
    for argument in std::env::args().skip(1) {
        let (route, name) = argument.split_once('=').ok_or("a fault is ROUTE=FAULT")?;
        server.fault(route, Calls::All, fault(name)?);
    }
    let mut out = std::io::stdout().lock();
    for (name, value) in server.settings() {
        writeln!(out, "export {name}={value}")?;
    }
    out.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn fault(name: &str) -> Result<Fault, Box<dyn Error>> {
    Ok(match name {
        "html" => Fault::Html,
        "gzip" => Fault::BrokenGzip,
        "truncated" => Fault::Truncated,
        "nulls" => Fault::Nulls,
        "duplicate" => Fault::Duplicate,
        "loop" => Fault::RedirectLoop,
        "drip" => Fault::Drip(Duration::from_millis(200)),
        "hang" => Fault::Hang,
        "429" => Fault::RateLimited(None),
        _ => match name.strip_prefix("429:") {
            Some(seconds) => Fault::RateLimited(Some(seconds.to_owned())),
            None => Fault::Status(name.parse()?, String::new()),
        },
    })
}
