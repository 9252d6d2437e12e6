//! What kind of result an answer carries, and what it asks the client for.
//!
//! A result may ask the client for more before a call goes on. Each of these requests is a question
//! of the server's like any other, so the policy has to name its method. A type of result that
//! nobody knows could mean anything to a client, and makes no answer.

use countersign_wire::{Value, fold};

/// The types of results that clients know: of the protocol, and of its tasks.
const TYPES: [&str; 3] = ["complete", "input_required", "task"];
const TYPE_MEMBER: &str = "resultType";
const REQUESTS_MEMBER: &str = "inputRequests";

/// Checks a result; `names_method` says whether the policy lets a server ask this.
///
/// # Errors
/// The reason for which it is not shown.
pub fn check(result: Value<'_>, names_method: impl Fn(&str) -> bool) -> Result<(), &'static str> {
    for (name, value) in result.members() {
        match &*name {
            TYPE_MEMBER => {
                let known = value.as_str().is_some_and(|kind| TYPES.contains(&&*kind));
                known.then_some(()).ok_or("unknown_result_type")?;
            }
            REQUESTS_MEMBER => requests(value, &names_method)?,
            // A reader that ignores case would read another result than the one that was judged.
            other
                if [TYPE_MEMBER, REQUESTS_MEMBER]
                    .iter()
                    .any(|member| fold(other).eq_ignore_ascii_case(member)) =>
            {
                return Err("unreadable_answer");
            }
            _ => {}
        }
    }
    Ok(())
}

fn requests(requests: Value<'_>, names_method: impl Fn(&str) -> bool) -> Result<(), &'static str> {
    if !requests.is_object() {
        return Err("unreadable_answer");
    }
    for (_, request) in requests.members() {
        let method = request.get("method").and_then(|method| method.as_str());
        let shadowed = request
            .members()
            .any(|(name, _)| name != "method" && fold(&name).eq_ignore_ascii_case("method"));
        match method {
            Some(method) if !shadowed => {
                names_method(&method)
                    .then_some(())
                    .ok_or("server_question")?;
            }
            _ => return Err("unreadable_answer"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_wire::Frame;

    fn of(result: &str) -> Result<(), &'static str> {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let frame = Frame::read(message.as_bytes()).unwrap();
        let result = frame.root().get("result").unwrap();
        check(result, |method| method == "elicitation/create")
    }

    #[test]
    fn only_results_of_known_types_are_answers() {
        for good in [
            r"{}",
            r#"{"resultType":"complete"}"#,
            r#"{"resultType":"task","task":{}}"#,
            r#"{"structuredContent":{"resultType":"approved"}}"#,
        ] {
            assert_eq!(of(good), Ok(()), "{good}");
        }
        for unknown in [
            r#"{"resultType":"approved"}"#,
            r#"{"resultType":"Complete"}"#,
            r#"{"resultType":["complete"]}"#,
            r#"{"resultType":null}"#,
        ] {
            assert_eq!(of(unknown), Err("unknown_result_type"), "{unknown}");
        }
        for unreadable in [
            r#"{"resultType":"complete","ResultType":"approved"}"#,
            r#"{"re\u017fulttype":"complete"}"#,
            r#"{"inputrequests":{}}"#,
        ] {
            assert_eq!(of(unreadable), Err("unreadable_answer"), "{unreadable}");
        }
    }

    #[test]
    fn a_result_asks_for_nothing_that_the_policy_does_not_name() {
        let asks = |requests: &str| {
            of(&format!(
                r#"{{"resultType":"input_required","inputRequests":{requests}}}"#
            ))
        };
        assert_eq!(asks(r#"{"a":{"method":"elicitation/create"}}"#), Ok(()));
        let both =
            r#"{"a":{"method":"elicitation/create"},"b":{"method":"sampling/createMessage"}}"#;
        assert_eq!(asks(both), Err("server_question"));
        for unreadable in [
            "[]",
            r#"{"a":"elicitation/create"}"#,
            r#"{"a":{"method":7}}"#,
            r#"{"a":{"method":"elicitation/create","METHOD":"roots/list"}}"#,
        ] {
            assert_eq!(asks(unreadable), Err("unreadable_answer"), "{unreadable}");
        }
    }
}
