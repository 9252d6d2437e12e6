//! The same with real providers, for those who have keys: a configuration as the agent's, in a file that
//! `COUNTERSIGN_LIVE_MODEL` names.

use countersign_models::{Event, Message, ModelConfig};
use futures_util::StreamExt;

use crate::provider::prompt;

#[tokio::test]
async fn a_real_model_answers_and_asks_for_a_tool() {
    let Ok(path) = std::env::var("COUNTERSIGN_LIVE_MODEL") else {
        println!("live model: not run (COUNTERSIGN_LIVE_MODEL is not set)");
        return;
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = std::fs::read_to_string(path).expect("the file");
    let config: ModelConfig =
        serde_json::from_str(&config).expect("a model's configuration as JSON");
    let model = config.open().expect("a usable configuration");
    let mut prompt = prompt();
    prompt.system = "Use list_cards to look at the customer's cards before you answer.".into();
    prompt.messages = vec![Message::Customer("Which cards do I have?".into())];
    prompt.tools[0].description = "The customer's cards.".into();
    let mut stream = model.reply(&prompt).await.expect("an answer");
    let mut called = false;
    let mut last = None;
    while let Some(event) = stream.next().await {
        let event = event.expect("a whole answer");
        called |= matches!(&event, Event::Call(call) if call.tool == "list_cards");
        last = Some(event);
    }
    println!(
        "live model {}: called a tool: {called}, ended with {last:?}",
        model.name()
    );
    assert!(matches!(last, Some(Event::Done | Event::CutShort)));
}
