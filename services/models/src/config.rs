//! Which model to use, as the agent's configuration names it.

use serde::Deserialize;

use crate::{Model, OfflineModel};

/// The model of a deployment. Tagged by `kind`; a kind this build does not know is refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ModelConfig {
    /// The built-in deterministic model: no key, no network.
    Offline {},
}

impl ModelConfig {
    /// Makes the model.
    pub fn open(self) -> Box<dyn Model> {
        match self {
            Self::Offline {} => Box::new(OfflineModel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kind_or_field_is_refused() {
        assert_eq!(
            serde_json::from_str::<ModelConfig>(r#"{"kind":"offline"}"#).unwrap(),
            ModelConfig::Offline {}
        );
        for text in [
            r#"{"kind":"scripted"}"#,
            r#"{"kind":"offline","key":"x"}"#,
            "{}",
        ] {
            assert!(serde_json::from_str::<ModelConfig>(text).is_err(), "{text}");
        }
    }
}
