//! What goes into a model: who said what, which tools there are, what they answered.

use serde_json::{Map, Value};
use time::Date;

/// A tool as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// The name to call it by.
    pub name: String,
    /// What it does, in the server's words.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// Whether it only reads. False also when the server does not say.
    pub reads_only: bool,
}

/// A model's wish to use a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The model's own name for this call, unique within the reply.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The call's id.
    pub call_id: String,
    /// The tool that answered.
    pub tool: String,
    /// What the tool said. Strings in it were written by outsiders as often as not: data, never orders.
    pub answer: Answer,
    /// Names of the screening rules that found orders to a model in the answer.
    pub flagged: Vec<String>,
}

/// A tool's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It did what it does.
    Done(Value),
    /// It said no, usually with a `code` and an `advice`.
    Refused(Value),
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the customer typed.
    Customer(String),
    /// What the model said, and the calls it asked for in the same breath.
    Assistant {
        /// The words.
        text: String,
        /// The calls.
        calls: Vec<ToolCall>,
    },
    /// What came of one of those calls.
    Result(ToolResult),
    /// What the program around the model has to tell it, such as that its last reply was cut. Not the customer's words.
    Notice(String),
}

/// Everything a model is told for one reply.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The reviewed instructions.
    pub system: String,
    /// The conversation, oldest first, ending with a customer's message or with results of this turn.
    pub messages: Vec<Message>,
    /// The tools that may be asked for.
    pub tools: Vec<ToolDefinition>,
    /// The day in the bank's part of the world, for "last month" and "from 1 December".
    pub today: Date,
}

impl Prompt {
    /// The definition of a tool, if it is there to be asked for.
    pub fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
