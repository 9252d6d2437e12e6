//! `args`: what an argument may be.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// Most arguments one tool may declare, and most one call may carry.
pub const ARGUMENTS_MAX: usize = 32;

/// The type of an argument.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentType {
    /// A string.
    String,
    /// A number without fraction or exponent, at most 2^53 − 1 away from zero. `3.0` and `3e0` are
    /// none.
    Integer,
    /// Any finite number. With bounds, at most 20 digits before the point and 18 after it.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An array; `items` says of what.
    Array,
    /// An object; `properties` says with which members.
    Object,
}

/// What an argument may be. `null` is no value: an optional argument is left out.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgumentFile {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ArgumentType,
    /// Whether a call without it is refused.
    #[serde(default)]
    pub required: bool,
    /// Least value of a number.
    #[serde(default)]
    pub min: Option<i64>,
    /// Greatest value of a number.
    #[serde(default)]
    pub max: Option<i64>,
    /// Least length of a string, in characters.
    #[serde(default)]
    pub min_length: Option<u32>,
    /// Greatest length of a string, in characters; 1024 when not given.
    #[serde(default)]
    pub max_length: Option<u32>,
    /// What the whole string must look like; matched in linear time. `^` and `$` are not needed.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The strings it may be.
    #[serde(default, rename = "enum")]
    pub one_of: Option<Vec<String>>,
    /// What every element of an array is.
    #[serde(default)]
    pub items: Option<Box<ArgumentFile>>,
    /// Least number of elements.
    #[serde(default)]
    pub min_items: Option<u32>,
    /// Greatest number of elements; 32 when not given.
    #[serde(default)]
    pub max_items: Option<u32>,
    /// The members of an object. What is not here is refused.
    #[serde(default)]
    pub properties: Option<BTreeMap<String, ArgumentFile>>,
}
