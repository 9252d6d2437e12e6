//! Threads that serve connections, each with its own reactor: whatever a connection needs happens on one
//! thread, and nothing is handed from core to core.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::eager;

/// Most workers; a door with more cores than that is not what they wait for.
const WORKERS_MAX: usize = 16;

/// The threads. They end when this is dropped, and whatever they still do with them.
#[derive(Debug)]
pub struct Workers {
    workers: Vec<Worker>,
    stop: Option<watch::Sender<()>>,
}

#[derive(Debug)]
struct Worker {
    handle: Handle,
    busy: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Workers {
    fn drop(&mut self) {
        drop(self.stop.take());
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

impl Workers {
    /// Starts one worker for every core. Nothing that blocks may run on them.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn start() -> std::io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (stop, stopped) = watch::channel(());
        let workers = (0..cores.min(WORKERS_MAX))
            .map(|_| Worker::start(stopped.clone()))
            .collect::<std::io::Result<_>>()?;
        Ok(Self {
            workers,
            stop: Some(stop),
        })
    }

    /// Runs a task on the worker that has the fewest.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let least = self
            .workers
            .iter()
            .min_by_key(|worker| worker.busy.load(Ordering::Relaxed));
        let Some(worker) = least else { return };
        let busy = Busy::new(&worker.busy);
        worker.handle.spawn(async move {
            task.await;
            drop(busy);
        });
    }
}

impl Worker {
    fn start(mut stopped: watch::Receiver<()>) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let thread = std::thread::Builder::new()
            .name("connections".into())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        // Resolves when the sender is gone.
                        _ = stopped.changed() => {}
                        () = eager::look() => {}
                    }
                });
            })?;
        Ok(Self {
            handle,
            busy: Arc::default(),
            thread: Some(thread),
        })
    }
}

/// A task of a worker's, counted as long as it is there.
struct Busy(Arc<AtomicUsize>);

impl Busy {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
