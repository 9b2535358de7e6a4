//! The server as its clients meet it: real sockets on loopback, a retriever in memory.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

mod annotate;
mod hostile;
mod load;
mod openapi;
mod site;
mod typed;
mod upstream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scholar_core::{PaperMeta, Passage, PassageId, PortError, Retrieved, Retriever, SearchRequest};
use scholar_server::{CollectionSize, OnQuery, Server, ServerConfig, Stopped};
use scholar_testing::MemoryRetriever;
use tokio::sync::{Semaphore, oneshot};

/// A server on a thread of its own.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<Stopped>>,
}

impl Running {
    pub(crate) fn start(retriever: Arc<dyn Retriever>, config: ServerConfig) -> Self {
        Self::observed(retriever, config, None)
    }

    pub(crate) fn observed(
        retriever: Arc<dyn Retriever>,
        config: ServerConfig,
        on_query: Option<OnQuery>,
    ) -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("threads");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
                tell.send(listener.local_addr().expect("an address")).expect("the test waits");
                let probe = Arc::new(|| Ok(CollectionSize { papers: 40, passages: 40 }));
                let server = Server::start(retriever, config, probe, on_query);
                let stop = async move {
                    let _dropped = stopped.await;
                };
                server.serve(listener, stop).await.expect("served")
            })
        });
        let address = told.recv().expect("it listens");
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    /// Asks it to stop, without waiting.
    pub(crate) fn ask_to_stop(&mut self) {
        let _gone = self.stop.take().map(|stop| stop.send(()));
    }

    /// Waits for its end.
    pub(crate) fn join(mut self) -> Stopped {
        self.ask_to_stop();
        self.thread.take().expect("once").join().expect("no panic")
    }
}

pub(crate) fn corpus() -> Running {
    Running::start(Arc::new(MemoryRetriever::corpus()), config())
}

pub(crate) fn config() -> ServerConfig {
    ServerConfig::local("forty", 2)
}

/// Answers as the corpus does, but only as many batches as were let through.
pub(crate) struct Gated {
    inner: MemoryRetriever,
    gate: Semaphore,
    /// Batches that reached the gate.
    pub(crate) arrived: Semaphore,
    batches: parking_lot::Mutex<Vec<usize>>,
    pub(crate) n_queries: AtomicUsize,
}

impl Gated {
    pub(crate) fn closed() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryRetriever::corpus(),
            gate: Semaphore::new(0),
            arrived: Semaphore::new(0),
            batches: parking_lot::Mutex::default(),
            n_queries: AtomicUsize::new(0),
        })
    }

    /// Lets `n` batches through.
    pub(crate) fn open(&self, n: usize) {
        self.gate.add_permits(n);
    }

    /// Waits until another batch is at the gate.
    pub(crate) fn wait_for_arrival(&self) {
        futures::executor::block_on(self.arrived.acquire()).expect("never closed").forget();
    }

    pub(crate) fn batches(&self) -> Vec<usize> {
        self.batches.lock().clone()
    }
}

#[async_trait]
impl Retriever for Gated {
    fn name(&self) -> &str {
        "gated"
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        self.n_queries.fetch_add(1, Ordering::Relaxed);
        assert!(request.query.as_str() != "panic", "as the test wants");
        self.inner.search(request).await
    }

    async fn search_batch(
        &self,
        requests: &[SearchRequest],
    ) -> Vec<Result<Vec<Retrieved>, PortError>> {
        self.arrived.add_permits(1);
        self.gate.acquire().await.expect("never closed").forget();
        self.batches.lock().push(requests.len());
        let mut outcomes = Vec::new();
        for request in requests {
            outcomes.push(self.search(request).await);
        }
        outcomes
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        self.inner.passage(id).await
    }
}
