//! What a tool is: its definition as the list shows it, and the function behind it.

use std::{future::Future, pin::Pin, sync::Arc};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{Call, Refusal};

/// Whether a tool only reads or asks the customer to confirm something. No tool acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Reads the customer's own data.
    Read,
    /// Puts a request on the customer's panel. It takes effect when the customer confirms it there.
    Request,
}

/// A tool of the bank. One file each in `tools`.
pub trait BankTool: 'static {
    /// The name on the wire.
    const NAME: &'static str;
    /// The name for people.
    const TITLE: &'static str;
    /// What it does and what to expect, for the model.
    const DESCRIPTION: &'static str;
    /// Whether it reads or requests.
    const REACH: Reach;
    /// Its arguments. The type refuses unknown members.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// Its answer.
    type Output: Serialize + Send;

    /// Does it, for the customer and in the transaction of `call`.
    fn run(
        call: &mut Call,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Refusal>> + Send;
}

type Running<'call> = Pin<Box<dyn Future<Output = Result<Value, Refusal>> + Send + 'call>>;

/// A tool in the router: one line there.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name on the wire.
    pub name: &'static str,
    /// Whether it reads or requests.
    pub reach: Reach,
    definition: fn() -> Tool,
    run: for<'call> fn(&'call mut Call, JsonObject) -> Running<'call>,
}

impl Entry {
    /// The entry of a tool.
    pub const fn of<T: BankTool>() -> Self {
        Self {
            name: T::NAME,
            reach: T::REACH,
            definition: definition::<T>,
            run: run::<T>,
        }
    }

    /// The definition as the tool list shows it.
    pub fn definition(&self) -> Tool {
        (self.definition)()
    }

    /// Runs the tool with arguments as they were received.
    ///
    /// # Errors
    /// The tool's refusal, and `invalid_argument` when the arguments are not the declared ones.
    pub async fn run(&self, call: &mut Call, arguments: JsonObject) -> Result<Value, Refusal> {
        (self.run)(call, arguments).await
    }
}

fn definition<T: BankTool>() -> Tool {
    let mut tool = Tool::new(T::NAME, T::DESCRIPTION, Arc::new(input_schema::<T>()));
    tool.title = Some(T::TITLE.to_owned());
    tool.annotations = Some(
        ToolAnnotations::new()
            .read_only(T::REACH == Reach::Read)
            .destructive(false)
            .idempotent(T::REACH == Reach::Read)
            .open_world(false),
    );
    tool
}

fn input_schema<T: BankTool>() -> JsonObject {
    let schema = schemars::schema_for!(T::Input);
    let mut object = match schema.to_value() {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    // The type's own name and documentation speak to readers of the code.
    object.remove("$schema");
    object.remove("title");
    object.remove("description");
    object
        .entry("properties")
        .or_insert_with(|| Value::Object(JsonObject::new()));
    object
}

fn run<T: BankTool>(call: &mut Call, arguments: JsonObject) -> Running<'_> {
    Box::pin(async move {
        let input: T::Input = serde_json::from_value(Value::Object(arguments))
            .map_err(|_| Refusal::invalid("arguments"))?;
        let output = T::run(call, input).await?;
        serde_json::to_value(output).map_err(|_| {
            tracing::error!(tool = T::NAME, "A tool's answer could not be written");
            Refusal::new(countersign_domain::ToolCode::Unavailable)
        })
    })
}
