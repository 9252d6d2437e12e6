//! Which server a task is of: of whoever answered this client with its id.
//!
//! Work that goes on after its answer is asked about by an id alone. An id that two servers answered
//! with belongs to neither, and one that nobody answered with is not guessed.

use std::collections::{HashMap, VecDeque};

use countersign_wire::Value;

use super::Several;
use crate::judge::reply;

/// Most tasks that are kept of one client; the oldest are forgotten.
const TASKS_MAX: usize = 4_096;
/// Longest id that is kept, in bytes.
const ID_BYTES_MAX: usize = 512;

/// The tasks that a client was told of.
#[derive(Default)]
pub struct Tasks {
    /// None where two servers claim it.
    of: HashMap<Box<str>, Option<usize>>,
    order: VecDeque<Box<str>>,
}

impl Tasks {
    fn learn(&mut self, server: usize, id: &str) {
        if id.len() > ID_BYTES_MAX {
            return;
        }
        if let Some(owner) = self.of.get_mut(id) {
            if *owner != Some(server) {
                *owner = None;
            }
            return;
        }
        if self.order.len() >= TASKS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.of.remove(&oldest);
        }
        self.order.push_back(id.into());
        self.of.insert(id.into(), Some(server));
    }

    /// Whose task it is.
    ///
    /// # Errors
    /// The reason where it is nobody's.
    pub fn owner(&self, id: &str) -> Result<usize, &'static str> {
        match self.of.get(id) {
            Some(Some(server)) => Ok(*server),
            Some(None) => Err("ambiguous_task"),
            None => Err("unknown_task"),
        }
    }
}

impl Several {
    /// Takes in which tasks a server's answer is about.
    pub(super) fn learn_tasks(&self, server: usize, answer: &[u8]) {
        if memchr::memmem::find(answer, b"taskId").is_none() {
            return;
        }
        let Ok(frame) = reply::read(answer) else {
            return;
        };
        let Some(result) = frame.root().get("result") else {
            return;
        };
        let listed = result.get("tasks");
        let listed = listed.into_iter().flat_map(|tasks| tasks.elements());
        // Revision 2025-11-25 has it in a member of its own, the extension of 2026-07-28 in the result itself.
        let about = result.get("task").into_iter().chain([result]).chain(listed);
        let mut state = self.state();
        for id in about.filter_map(id_of) {
            state.tasks.learn(server, &id);
        }
    }

    /// Whether a server says something of a task that is not its own.
    pub(super) fn speaks_of_anothers_task(&self, server: usize, message: &[u8]) -> bool {
        let Ok(frame) = reply::read(message) else {
            return true;
        };
        let is_news = frame
            .method()
            .is_some_and(|method| method.starts_with("notifications/tasks"));
        let id = frame.params().filter(|_| is_news);
        let id = id.and_then(|params| id_of(params).or_else(|| id_of(params.get("task")?)));
        is_news && id.is_none_or(|id| self.state().tasks.owner(&id) != Ok(server))
    }
}

fn id_of(value: Value<'_>) -> Option<String> {
    Some(value.get("taskId")?.as_str()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_claim_is_nobodys_and_the_oldest_are_forgotten() {
        let mut tasks = Tasks::default();
        tasks.learn(0, "a");
        tasks.learn(0, "a");
        assert_eq!(tasks.owner("a"), Ok(0));
        tasks.learn(1, "a");
        tasks.learn(0, "a");
        assert_eq!(tasks.owner("a"), Err("ambiguous_task"));
        assert_eq!(tasks.owner("b"), Err("unknown_task"));
        for number in 0..TASKS_MAX {
            tasks.learn(1, &number.to_string());
        }
        assert_eq!(tasks.owner("a"), Err("unknown_task"));
        assert_eq!(tasks.owner("0"), Ok(1));
        tasks.learn(0, &"x".repeat(ID_BYTES_MAX + 1));
        assert_eq!(tasks.of.len(), TASKS_MAX);
    }
}
