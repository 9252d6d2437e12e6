//! Which messages are plumbing, which are lists, and which the policy decides.

/// What the door does with a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Passes: it reads nothing and changes nothing behind the door.
    Plumbing,
    /// Passes, and its answer shows only what would pass.
    List(List),
    /// The policy decides about the tool it names.
    CallTool,
    /// The policy decides about the method. What nobody has heard of is here too.
    Decided,
}

/// A method whose answer is a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// The member of the result that holds it.
    pub member: &'static str,
    /// The member by which an entry is known.
    pub named_by: &'static str,
    /// The method that reads an entry; none for tools, which are judged one by one.
    pub read_by: Option<&'static str>,
}

/// The list of tools.
pub const TOOLS: List = List {
    member: "tools",
    named_by: "name",
    read_by: None,
};

/// The list of tasks, which the policy decides about like any other method.
pub const TASKS: List = List {
    member: "tasks",
    named_by: "taskId",
    read_by: Some("tasks/get"),
};

/// The route of a request's or a notification's method.
pub fn route(method: &str) -> Route {
    match method {
        "tools/call" => Route::CallTool,
        "tools/list" => Route::List(TOOLS),
        "resources/list" => Route::List(List {
            member: "resources",
            named_by: "uri",
            read_by: Some("resources/read"),
        }),
        "resources/templates/list" => Route::List(List {
            member: "resourceTemplates",
            named_by: "uriTemplate",
            read_by: Some("resources/read"),
        }),
        "prompts/list" => Route::List(List {
            member: "prompts",
            named_by: "name",
            read_by: Some("prompts/get"),
        }),
        "initialize"
        | "ping"
        | "server/discover"
        | "logging/setLevel"
        | "resources/unsubscribe" => Route::Plumbing,
        method if method.starts_with("notifications/") => Route::Plumbing,
        _ => Route::Decided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_heard_of_is_decided() {
        for method in [
            "resources/read",
            "resources/subscribe",
            "prompts/get",
            "completion/complete",
            "subscriptions/listen",
            "x/private",
            "tools/Call",
            "Ping",
            "skills/list",
            "tasks/cancel",
        ] {
            assert_eq!(route(method), Route::Decided, "{method}");
        }
        assert_eq!(route("tools/call"), Route::CallTool);
        assert_eq!(route("notifications/cancelled"), Route::Plumbing);
    }
}
