//! What every command needs: places, environment, config, printer.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use parking_lot::Mutex;
use scholar_core::{Notice, NoticeKind};
use scholar_models::LocalEncoder;
use scholar_pipeline::{Alarm, Clock};
use tokio::runtime::{Handle, Runtime};

use crate::args::GlobalArgs;
use crate::config::ConfigFile;
use crate::env::Environment;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::home::Home;
use crate::printer::Printer;
use crate::private;
use crate::resident::Resident;
use crate::stop::Stop;

/// One invocation of the program.
pub(crate) struct App {
    pub(crate) home: Home,
    pub(crate) env: Environment,
    pub(crate) config: ConfigFile,
    pub(crate) printer: Printer,
    pub(crate) stop: Stop,
    /// Nobody is asked: models that are not here cannot be fetched.
    pub(crate) offline: bool,
    /// Ports of this machine at which model servers may be looked for; none where nobody is asked.
    pub(crate) local_ports: Vec<u16>,
    /// Encoders for late interaction by their folders, open as long as somebody holds them.
    pub(crate) encoders: Mutex<HashMap<PathBuf, Weak<LocalEncoder>>>,
    /// What a server keeps open.
    pub(crate) resident: Resident,
    /// When the program began.
    pub(crate) began: Instant,
    /// A command's own number of threads.
    threads: OnceLock<usize>,
    /// Kept until the end: with it ends the watch for signals.
    runtime: OnceLock<Runtime>,
}

impl Drop for App {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl App {
    pub(crate) fn new(
        global: GlobalArgs,
        offline: bool,
        printer: Printer,
    ) -> Result<Self, CommandError> {
        let env = Environment::read();
        let home = Home::find(global.home.as_deref(), &env)?;
        let config_file = global.config.clone().unwrap_or_else(|| home.config_file());
        let config = ConfigFile::read(&config_file, global.config.is_some())?;
        let offline = offline || config.sources.offline;
        let mut local_ports = config.local_ports(env.local_ports.as_deref())?;
        if offline {
            local_ports.clear();
        }
        Ok(Self {
            offline,
            local_ports,
            home,
            env,
            config,
            printer,
            stop: Stop::default(),
            encoders: Mutex::default(),
            resident: Resident::default(),
            began: Instant::now(),
            threads: OnceLock::new(),
            runtime: OnceLock::new(),
        })
    }

    /// The datastore to use: the flag's, else the config file's, else the person's own library, else the starter papers.
    pub(crate) fn datastore_name(&self, flag: Option<&str>) -> String {
        if let Some(name) = flag.or(self.config.datastore.as_deref()) {
            return name.to_owned();
        }
        let library = crate::config::LIBRARY_DATASTORE;
        let has_library = self.home.datastore(library).is_ok_and(|path| path.is_dir());
        if has_library { library } else { crate::config::DEFAULT_DATASTORE }.to_owned()
    }

    /// The datastores that `name` means: those of a group of the config file, several parted by commas, or one.
    pub(crate) fn datastore_members(&self, name: &str) -> Vec<String> {
        let mut members: Vec<String> = Vec::new();
        for part in name.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let group = self.config.groups.get(part).cloned();
            for member in group.unwrap_or_else(|| vec![part.to_owned()]) {
                if !members.contains(&member) {
                    members.push(member);
                }
            }
        }
        members
    }

    /// Threads for models.
    pub(crate) fn threads(&self) -> usize {
        self.threads
            .get()
            .copied()
            .or(self.config.threads)
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// From now on, and once, models and searches get `threads`.
    pub(crate) fn use_threads(&self, threads: usize) {
        self.threads.get_or_init(|| threads);
    }

    /// The year that it is now, UTC.
    pub(crate) fn year() -> i16 {
        jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).year()
    }

    /// Now, UTC, to the second.
    pub(crate) fn now() -> String {
        let now = jiff::Timestamp::now();
        now.round(jiff::Unit::Second).unwrap_or(now).to_string()
    }

    /// Runs `future` on the program's runtime; a signal drops it, which is an error.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> Result<T, CommandError> {
        self.runtime()?.block_on(async {
            tokio::select! {
                // What the work itself says of a signal is better than what is said here.
                biased;
                done = future => Ok(done),
                () = self.stop.asked() => Err(CommandError::new(ErrorKind::Interrupted, "interrupted")),
            }
        })
    }

    /// The same for work that looks for signals itself, to keep what was done.
    pub(crate) fn block_on_to_the_end<T>(
        &self,
        future: impl Future<Output = T>,
    ) -> Result<T, CommandError> {
        Ok(self.runtime()?.block_on(future))
    }

    /// The runtime, for threads that wait for work of their own.
    pub(crate) fn handle(&self) -> Result<Handle, CommandError> {
        Ok(self.runtime()?.handle().clone())
    }

    /// From now on signals are left to who looks for them: [`Stop`].
    pub(crate) fn heed_signals(&self) -> Result<(), CommandError> {
        self.runtime()?;
        self.stop.heed();
        Ok(())
    }

    /// A progress callback that ends the work when the person asked for it.
    pub(crate) fn until_stopped(&self) -> ControlFlow<()> {
        // Without threads for it nobody watches for signals, and the system ends the program.
        let _unwatched = self.heed_signals();
        if self.stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The time since the program began.
    pub(crate) fn clock(&self) -> Clock {
        let began = self.began;
        Arc::new(move || began.elapsed())
    }

    /// Timers of the runtime.
    pub(crate) fn alarm() -> Alarm {
        Arc::new(|pause| Box::pin(tokio::time::sleep(pause)))
    }

    /// The runtime; signals are watched for as long as there is one.
    fn runtime(&self) -> Result<&Runtime, CommandError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let failed =
            |source| CommandError::new(ErrorKind::User, "cannot start threads").with_source(source);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .thread_name("scholar-io")
            .build()
            .map_err(failed)?;
        self.stop.watch(&runtime, &self.printer).map_err(failed)?;
        Ok(self.runtime.get_or_init(|| runtime))
    }

    /// Tells of a file of keys that others can read.
    pub(crate) fn warn_if_open(&self, keys: &Path) {
        if private::is_open(keys) {
            let message = format!("{} can be read by other users of this machine", keys.display());
            let notice = Notice::new(NoticeKind::Weak, message);
            self.printer.notice(&notice.with_hint(format!("chmod go= {}", keys.display())));
        }
    }

    /// The folder of the datastore called `name`, which must exist.
    pub(crate) fn existing_datastore(&self, name: &str) -> Result<PathBuf, CommandError> {
        let path = self.home.datastore(name)?;
        if path.is_dir() {
            return Ok(path);
        }
        let names = self.datastore_names()?;
        let known = if names.is_empty() {
            "there is none yet".to_owned()
        } else {
            format!("there are: {}", names.join(", "))
        };
        Err(CommandError::user(format!(
            "there is no datastore {name:?} in {}",
            self.home.datastores().display()
        ))
        .with_hint(format!("{known}; build one with openscholar datastore build NAME FILE…")))
    }

    /// Names of all datastores, sorted.
    pub(crate) fn datastore_names(&self) -> Result<Vec<String>, CommandError> {
        let entries = match fs_err::read_dir(self.home.datastores()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).user(|| "cannot list the datastores".to_owned()),
        };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .collect();
        names.sort();
        Ok(names)
    }
}
