//! Several servers for one client: programs that the door starts and addresses, mixed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use crate::caller::Caller;
use crate::door::Door;
use crate::http::behind::Remote;
use crate::http::upstream::Upstream;
use crate::pipes::child::Program;
use crate::pipes::drain::Drain;
use crate::pipes::kept::Kept;
use crate::pipes::queued::QueuedInput;
use crate::session::{Back, Front, LAST_ANSWERS_TIME};
use crate::several::{Endpoint, Several};

/// How long after a server over HTTP took no part it is asked again.
const AGAIN_TIME: Duration = Duration::from_secs(5);

/// How one of several servers is reached.
pub enum Way {
    /// The door starts it.
    Program(Program),
    /// It has an address.
    Http(Arc<Upstream>),
}

/// How all of them are, in the order of the door's servers.
pub struct Plan {
    ways: Vec<Way>,
    endpoint: Endpoint,
    drain: Drain,
    /// Where connections live; programs alone need none.
    runtime: Option<Handle>,
}

impl Plan {
    /// A plan.
    ///
    /// # Errors
    /// When there is no thread, or no random byte.
    pub fn new(ways: Vec<Way>, runtime: Option<Handle>) -> anyhow::Result<Self> {
        Ok(Self {
            ways,
            endpoint: Endpoint::new()?,
            drain: Drain::start()?,
            runtime,
        })
    }
}

enum Behind {
    Kept(Arc<Kept>),
    Remote(Arc<Remote>),
}

/// Starts one server once its session is there.
type Start<'p> = Box<dyn FnOnce(&Several) -> std::io::Result<Behind> + 'p>;

/// A client's servers.
pub struct Fleet {
    /// The traffic with them.
    pub several: Arc<Several>,
    behind: Vec<Behind>,
    runtime: Option<Handle>,
    asked_again_at: Mutex<Instant>,
}

impl Fleet {
    /// Starts every program and is ready for the client's first word. A server that does not start
    /// is down, and the others go on.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn start(
        plan: &Plan,
        door: &Arc<Door>,
        caller: &Caller,
        front: Arc<dyn Front>,
    ) -> std::io::Result<Self> {
        let mut backs: Vec<Arc<dyn Back>> = Vec::new();
        let mut starts: Vec<Start<'_>> = Vec::new();
        for (server, way) in plan.ways.iter().enumerate() {
            match way {
                Way::Program(program) => {
                    let input = QueuedInput::start(&program.name)?;
                    backs.push(Arc::clone(&input) as _);
                    starts.push(Box::new(move |several| {
                        let session = Arc::clone(&several.sessions()[server]);
                        let kept = Kept::start(program.clone(), &plan.drain, session, input)?;
                        Ok(Behind::Kept(kept))
                    }));
                }
                Way::Http(upstream) => {
                    let runtime = plan.runtime.as_ref();
                    let runtime = runtime.ok_or(std::io::ErrorKind::Unsupported)?;
                    let remote = Remote::start(Arc::clone(upstream), runtime);
                    backs.push(Arc::clone(&remote) as _);
                    starts.push(Box::new(move |several| {
                        remote.serve(&several.sessions()[server]);
                        Ok(Behind::Remote(remote))
                    }));
                }
            }
        }
        let several = Several::new(door, caller, front, backs, &plan.endpoint);
        let behind = starts.into_iter().map(|start| start(&several));
        let behind = behind.collect::<std::io::Result<Vec<_>>>()?;
        Ok(Self {
            several,
            behind,
            runtime: plan.runtime.clone(),
            asked_again_at: Mutex::new(Instant::now()),
        })
    }

    /// Gives up what takes too long, and asks again whoever took no part.
    pub fn tick(&self) {
        self.several.tick();
        let asks_again = {
            let mut at = self
                .asked_again_at
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let is_time = at.elapsed() > AGAIN_TIME;
            if is_time {
                *at = Instant::now();
            }
            is_time
        };
        for (behind, session) in self.behind.iter().zip(self.several.sessions()) {
            match behind {
                Behind::Kept(kept) => kept.tick(),
                Behind::Remote(_) if asks_again && session.is_down() => session.server_is_up(),
                Behind::Remote(_) => {}
            }
        }
    }

    /// Ends every server, all at once; it may take a while.
    pub fn end(&self) {
        std::thread::scope(|scope| {
            for behind in &self.behind {
                match (behind, &self.runtime) {
                    (Behind::Kept(kept), _) => {
                        scope.spawn(|| kept.end());
                    }
                    (Behind::Remote(remote), Some(runtime)) => {
                        scope.spawn(|| {
                            runtime.block_on(async {
                                let _ = tokio::time::timeout(LAST_ANSWERS_TIME, remote.end()).await;
                            });
                        });
                    }
                    (Behind::Remote(_), None) => {}
                }
            }
        });
    }
}
