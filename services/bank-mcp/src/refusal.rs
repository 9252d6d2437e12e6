//! How a tool says no: one code of the bank's fixed list, what to do next, and nothing of anybody's data.

use countersign_domain::ToolCode;
use countersign_pending::{RequestError, StatusError};
use countersign_store::{action::ActionError, read::ReadError, session};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// A tool's no.
///
/// `what` names the argument or value at fault by the bank's own word for it, never by what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused: {code}")]
pub struct Refusal {
    /// The code a model acts on.
    pub code: ToolCode,
    /// Which argument or value is at fault, where one is.
    pub what: Option<&'static str>,
}

impl Refusal {
    /// A refusal that is about no single value.
    pub const fn new(code: ToolCode) -> Self {
        Self { code, what: None }
    }

    /// A refusal about one argument or value.
    pub const fn about(code: ToolCode, what: &'static str) -> Self {
        Self {
            code,
            what: Some(what),
        }
    }

    /// The argument is missing, undeclared or not of its form.
    pub const fn invalid(what: &'static str) -> Self {
        Self::about(ToolCode::InvalidArgument, what)
    }

    /// No such thing among this customer's, whether or not it is somebody else's.
    pub const fn not_found(what: &'static str) -> Self {
        Self::about(ToolCode::NotFound, what)
    }

    /// The bank cannot answer; the cause goes to the log and not to the caller.
    ///
    /// A time-out on the customer's lock is [`ToolCode::Busy`], an ended session [`ToolCode::TurnEnded`].
    pub fn from_database(error: &sqlx::Error) -> Self {
        let state = session::sqlstate(error);
        let code = match state.as_deref() {
            Some("CS001") => ToolCode::TurnEnded,
            Some("55P03" | "40001" | "40P01") => ToolCode::Busy,
            _ => ToolCode::Unavailable,
        };
        tracing::error!(code = %code, state = state.as_deref().unwrap_or("none"), "A tool could not use the database");
        Self::new(code)
    }

    /// The refusal as the tool's result.
    pub fn into_result(self) -> CallToolResult {
        let mut body = json!({ "code": self.code.text(), "advice": self.code.advice() });
        if let Some(what) = self.what {
            body["what"] = Value::from(what);
        }
        let mut result = CallToolResult::error(vec![ContentBlock::text(body.to_string())]);
        result.structured_content = Some(body);
        result
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Database(error) => Self::from_database(&error),
            ReadError::Corrupt(what) => corrupt(what),
        }
    }
}

impl From<ActionError> for Refusal {
    fn from(error: ActionError) -> Self {
        match error {
            ActionError::Database(error) => Self::from_database(&error),
            ActionError::Corrupt(what) => corrupt(what),
        }
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        match &error {
            RequestError::Database(cause) => Self::from_database(cause),
            RequestError::Corrupt(_) | RequestError::NotAsMeant(_) => {
                tracing::error!(reason = %error, "A request could not be decided");
                Self::new(error.code())
            }
            RequestError::Refused(_) | RequestError::TurnEnded | RequestError::Busy => Self {
                code: error.code(),
                what: error.what(),
            },
        }
    }
}

impl From<StatusError> for Refusal {
    fn from(error: StatusError) -> Self {
        match error {
            StatusError::TurnEnded => Self::new(ToolCode::TurnEnded),
            StatusError::Corrupt(what) => corrupt(what),
            StatusError::Database(error) => Self::from_database(&error),
        }
    }
}

fn corrupt(what: &'static str) -> Refusal {
    tracing::error!(what, "A stored value is not what its schema allows");
    Refusal::new(ToolCode::Unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_carries_its_code_in_text_and_structure_alike() {
        let result = Refusal::invalid("amount").into_result();
        assert_eq!(result.is_error, Some(true));
        let structured = result.structured_content.unwrap();
        assert_eq!(structured["code"], "invalid_argument");
        assert_eq!(structured["what"], "amount");
        let text = serde_json::to_value(&result.content[0]).unwrap();
        let again: Value = serde_json::from_str(text["text"].as_str().unwrap()).unwrap();
        assert_eq!(again, structured);
    }

    #[test]
    fn a_failing_database_is_unavailable_and_shows_no_cause() {
        let refusal = Refusal::from_database(&sqlx::Error::PoolTimedOut);
        assert_eq!(refusal, Refusal::new(ToolCode::Unavailable));
        assert!(
            !serde_json::to_string(&refusal.into_result().structured_content)
                .unwrap()
                .contains("pool")
        );
    }
}
