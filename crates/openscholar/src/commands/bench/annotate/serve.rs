//! `bench annotate serve`.

use std::process::ExitCode;

use scholar_server::annotate::Study;

use super::study::{New, announce, environment, url};
use crate::app::App;
use crate::args::AnnotateServeArgs;
use crate::commands::datastore::serve::listen_on;
use crate::commands::datastore::serve::reach::{self, Guard};
use crate::error::{CommandError, Context as _};

pub(super) fn run(args: &AnnotateServeArgs, app: &App) -> Result<ExitCode, CommandError> {
    let url = args.url.as_deref().map(url).transpose()?;
    let hosts = reach::hosts(&args.reach.allowed_hosts, url.as_ref())?;
    let guard = match &url {
        Some(url) if url.scheme() == "https" => Guard::SecretsOverTls,
        _ => Guard::Secrets { insecure: args.reach.insecure },
    };
    reach::check(args.address, guard)?;
    // Everything that can be wrong with the files is found before the study is touched.
    let new = New::read(&args.study)?;
    app.block_on_to_the_end(async {
        let listener = listen_on(args.address, "--address").await?;
        let address =
            listener.local_addr().user(|| format!("cannot listen on {}", args.address))?;
        let store = new.put(&args.study, app)?;
        if let Some(note) = reach::note(address, guard) {
            app.printer.say(note);
        }
        // Who reads the address may end the server at once, and finds it ending in good order.
        app.stop.heed();
        let at = format!("http://{address}");
        let base = args.url.as_deref().map_or(at.as_str(), |url| url.trim_end_matches('/'));
        announce(&store, &at, base, app)?;
        let stopped = Study::new(store, environment(), hosts)
            .serve(listener, app.stop.wait())
            .await
            .user(|| format!("cannot serve on {address}"))?;
        if stopped.cut_off > 0 {
            app.printer.say(&format!("{} requests were cut off", stopped.cut_off));
        }
        Ok(ExitCode::SUCCESS)
    })?
}
