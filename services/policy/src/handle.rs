//! The policy in force, and how another takes its place: whole, at once, or not at all.

use std::sync::{Arc, PoisonError, RwLock};

use crate::file::Mode;
use crate::template::Environment;
use crate::{Policy, PolicyError};

/// The policy in force. Whoever decides takes a snapshot and decides by it to the end.
#[derive(Debug)]
pub struct PolicyHandle {
    current: RwLock<Arc<Policy>>,
}

/// A policy that took another's place.
#[derive(Clone, Debug)]
pub struct Reloaded {
    /// The one that was in force.
    pub old: Arc<Policy>,
    /// The one that is.
    pub new: Arc<Policy>,
}

impl Reloaded {
    /// Whether decisions bind now as they did before.
    #[must_use]
    pub fn mode_changed(&self) -> bool {
        self.old.mode() != self.new.mode()
    }

    /// Whether refusals stopped binding. Worth an alarm.
    #[must_use]
    pub fn stopped_enforcing(&self) -> bool {
        self.mode_changed() && self.new.mode() == Mode::Observe
    }
}

impl PolicyHandle {
    /// Puts a policy in force.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            current: RwLock::new(Arc::new(policy)),
        }
    }

    /// The policy in force now. A reload in between changes nothing in what was taken.
    #[must_use]
    pub fn current(&self) -> Arc<Policy> {
        // A policy is never half written: the lock guards one pointer.
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Reads a policy and puts it in force.
    ///
    /// # Errors
    /// [`PolicyError`]; the old policy stays in force.
    pub fn reload(
        &self,
        yaml: &str,
        environment: Environment<'_>,
    ) -> Result<Reloaded, PolicyError> {
        let new = Arc::new(Policy::load_with(yaml, environment)?);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, Arc::clone(&new));
        Ok(Reloaded { old, new })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(id: &str) -> String {
        format!(
            "version: 1\nid: {id}\ndefault: deny\n\
             servers: {{s: {{url: 'http://127.0.0.1:1/mcp', headers: {{X-Key: '${{KEY}}'}}}}}}\n"
        )
    }

    #[test]
    fn a_reload_is_whole_and_the_old_policy_stays_on_error() {
        let key = |name: &str| (name == "KEY").then(|| "hunter2".to_owned());
        let handle = PolicyHandle::new(Policy::load_with(&yaml("one"), &key).unwrap());
        let before = handle.current();
        for broken in ["", "version: 1", &yaml("two").replace("deny", "allow")] {
            assert!(handle.reload(broken, &key).is_err(), "{broken}");
            assert_eq!(handle.current().id(), "one");
        }
        // Also when only the environment lacks something.
        let error = handle.reload(&yaml("two"), &|_| None).unwrap_err();
        assert!(error.to_string().contains("KEY"), "{error}");
        assert_eq!(handle.current().id(), "one");
        let reloaded = handle.reload(&yaml("two"), &key).unwrap();
        assert!(!reloaded.mode_changed());
        assert_eq!(handle.current().id(), "two");
        assert_ne!(handle.current().hash(), before.hash());
        // What was taken before decides as before.
        assert_eq!(before.id(), "one");
        assert!(!format!("{:?}", handle.current()).contains("hunter2"));
    }

    #[test]
    fn a_reload_that_stops_enforcing_says_so() {
        let handle = PolicyHandle::new(Policy::load(&yaml("one")).unwrap());
        let observing = format!("{}mode: observe\n", yaml("one"));
        let reloaded = handle.reload(&observing, &|_| Some("x".into())).unwrap();
        assert!(reloaded.stopped_enforcing());
    }
}
