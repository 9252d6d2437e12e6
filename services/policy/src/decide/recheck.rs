//! Calls that were held, looked at again before they go on.

use countersign_wire::Value;

use super::{Call, Circumstances, check_params};
use crate::file::Mode;
use crate::rule::Who;
use crate::{Decision, Policy};

impl Policy {
    /// Whether a call that was held may still go on, by the policy and the definition of now. It is
    /// not counted again, and what holds it is decided.
    ///
    /// # Errors
    /// The denial, when it may not.
    pub fn recheck_call(
        &self,
        call: &Call<'_>,
        circumstances: &Circumstances<'_>,
    ) -> Result<(), Box<Decision<'_>>> {
        let who = Who {
            identity: call.identity,
            groups: circumstances.groups,
        };
        let (tool, admitted) =
            match self.admit_tool(call.server, call.name, call.live, who, &mut |_| {}) {
                Ok(admitted) => admitted,
                Err(denied) if self.lets_pass(denied.reason) => return Ok(()),
                Err(denied) => return Err(Box::new(denied)),
            };
        match tool.arguments.check(call.arguments) {
            Ok(()) => Ok(()),
            Err(_) if self.mode == Mode::Observe => Ok(()),
            Err(error) => Err(Box::new(Decision::deny_arguments(
                self,
                error,
                admitted.rule,
            ))),
        }
    }

    /// Whether another method's message that was held may still go on. `caller` is its identity.
    ///
    /// # Errors
    /// The denial, when it may not.
    pub fn recheck_method(
        &self,
        method: &str,
        params: Option<Value<'_>>,
        caller: &str,
        circumstances: &Circumstances<'_>,
    ) -> Result<(), Box<Decision<'_>>> {
        let who = Who {
            identity: caller,
            groups: circumstances.groups,
        };
        let (_, method, admitted) = match self.admit_method(method, who, &mut |_| {}) {
            Ok(admitted) => admitted,
            Err(denied) if self.lets_pass(denied.reason) => return Ok(()),
            Err(denied) => return Err(Box::new(denied)),
        };
        match check_params(&method.arguments, params) {
            Ok(()) => Ok(()),
            Err(_) if self.mode == Mode::Observe => Ok(()),
            Err(error) => Err(Box::new(Decision::deny_arguments(
                self,
                error,
                admitted.rule,
            ))),
        }
    }
}
