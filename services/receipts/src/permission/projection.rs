//! Public projections of a request (§3.6): which paths a tag shows, building one, and checking that
//! a signed one is what its tag allows (§6.7 step 1).

use serde_json::{Map, Value};

use super::refusal::{Refusal, RefusalCode};
use crate::payload::canonical;

mod tags;

use tags::{Field, Slot, fields_of};

fn not_allowed(what: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::ProjectionNotAllowed, what)
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// 1 to 128 characters of `A-Za-z0-9._:/-`.
fn is_identifier(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte))
}

/// Whether a value may stand in a slot.
fn fits(slot: Slot, value: &Value) -> bool {
    match slot {
        Slot::Value => {
            is_scalar(value)
                || value
                    .as_array()
                    .is_some_and(|all| all.iter().all(is_scalar))
        }
        Slot::Identifier => value.as_str().is_some_and(is_identifier),
        Slot::OneOf(words) => value.as_str().is_some_and(|text| words.contains(&text)),
    }
}

/// Whether the repository is a public one, as far as the object itself says.
fn is_public(object: &Map<String, Value>) -> bool {
    let scope = object.get("scope").and_then(Value::as_object);
    scope.and_then(|scope| scope.get("visibility")) == Some(&Value::from("public"))
}

/// Builds the projection of a request under a tag, as canonical text (§3.6).
///
/// Nothing when the tag is not known or the request is no JSON object.
#[must_use]
pub fn build_projection(tag: &str, request_json: &str) -> Option<String> {
    let fields = fields_of(tag)?;
    let Ok(Value::Object(request)) = serde_json::from_str(request_json) else {
        return None;
    };
    let public = is_public(&request);
    let mut projection = Map::new();
    for field in fields {
        if field.guarded(tag).is_none() || public {
            copy(&request, &mut projection, field.path, field.slot);
        }
    }
    prune(&mut projection);
    projection.insert("projection".into(), tag.into());
    String::from_utf8(canonical(&projection).ok()?).ok()
}

/// Copies the value at a path, when it is there and fits.
fn copy(source: &Map<String, Value>, target: &mut Map<String, Value>, path: &str, slot: Slot) {
    let Some((head, rest)) = path.split_once('.') else {
        if let Some(value) = source.get(path).filter(|value| fits(slot, value)) {
            target.insert(path.into(), value.clone());
        }
        return;
    };
    if let Some(name) = head.strip_suffix("[]") {
        let Some(Value::Array(elements)) = source.get(name) else {
            return;
        };
        if elements.is_empty() {
            return;
        }
        let empty = || Value::from(vec![Value::Object(Map::new()); elements.len()]);
        if let Value::Array(kept) = target.entry(name).or_insert_with(empty) {
            for (element, kept) in elements.iter().zip(kept) {
                if let (Value::Object(element), Value::Object(kept)) = (element, kept) {
                    copy(element, kept, rest, slot);
                }
            }
        }
        return;
    }
    if let Some(Value::Object(inner)) = source.get(head) {
        let empty = || Value::Object(Map::new());
        if let Value::Object(kept) = target.entry(head).or_insert_with(empty) {
            copy(inner, kept, rest, slot);
        }
    }
}

/// Takes out what was made for members that then were not there; elements of an array stay, so
/// that the others keep their places. A copied empty array is a value and stays.
fn prune(object: &mut Map<String, Value>) {
    object.retain(|_, value| match value {
        Value::Object(inner) => {
            prune(inner);
            !inner.is_empty()
        }
        Value::Array(elements) => {
            let made = !elements.is_empty() && elements.iter().all(Value::is_object);
            for element in elements.iter_mut() {
                if let Value::Object(inner) = element {
                    prune(inner);
                }
            }
            !made
                || elements
                    .iter()
                    .any(|element| element != &Value::Object(Map::new()))
        }
        _ => true,
    });
}

/// The tag that a projection names, when it is one.
pub(super) fn tag_of(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    Some(value.as_object()?.get("projection")?.as_str()?.to_owned())
}

/// Checks a signed projection and returns it.
pub(super) fn check(text: &str) -> Result<Value, Refusal> {
    let tag = tag_of(text)
        .ok_or_else(|| Refusal::malformed("publicProjectionJson names no projection"))?;
    let fields = fields_of(&tag).ok_or_else(|| {
        Refusal::new(
            RefusalCode::ProjectionUnsupported,
            "signed, with a projection that is not known here: unverifiable, not tampered with",
        )
    })?;
    let Ok(Value::Object(mut object)) = serde_json::from_str::<Value>(text) else {
        return Err(Refusal::malformed("publicProjectionJson is no object"));
    };
    if canonical(&object).ok().as_deref() != Some(text.as_bytes()) {
        return Err(not_allowed("the projection is not canonical"));
    }
    let public = is_public(&object);
    let whole = Value::Object(object.clone());
    object.remove("projection");
    // The tag may stand alone: a request that held nothing of the list.
    for (name, value) in &object {
        walk(fields, &tag, &step("", name)?, value, public)?;
    }
    Ok(whole)
}

/// One step down a path. A name that could be taken for two steps is on no list.
fn step(path: &str, name: &str) -> Result<String, Refusal> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || !name.bytes().all(plain) {
        return Err(not_allowed("a member's name is on no list"));
    }
    Ok(format!("{path}{name}"))
}

/// Checks one member at its path, and everything below it.
fn walk(
    fields: &'static [Field],
    tag: &str,
    path: &str,
    value: &Value,
    public: bool,
) -> Result<(), Refusal> {
    if let Some(field) = fields.iter().find(|field| field.path == path) {
        if let Some(what) = field.guarded(tag)
            && !public
        {
            return Err(not_allowed(format!(
                "{path} is {what} of a private repository"
            )));
        }
        if !fits(field.slot, value) {
            return Err(not_allowed(format!(
                "{path} holds what its slot does not take"
            )));
        }
        return Ok(());
    }
    let below = |prefix: &str| {
        fields
            .iter()
            .any(|field| field.path.starts_with(prefix) && field.path.len() > prefix.len())
    };
    match value {
        Value::Object(inner) if below(&format!("{path}.")) => {
            if inner.is_empty() {
                return Err(not_allowed(format!("{path} is an empty object")));
            }
            inner.iter().try_for_each(|(name, value)| {
                walk(
                    fields,
                    tag,
                    &step(&format!("{path}."), name)?,
                    value,
                    public,
                )
            })
        }
        Value::Array(elements) if below(&format!("{path}[].")) => {
            let mut any = false;
            for element in elements {
                let Value::Object(inner) = element else {
                    return Err(not_allowed(format!(
                        "{path} holds something else than objects"
                    )));
                };
                any |= !inner.is_empty();
                inner.iter().try_for_each(|(name, value)| {
                    walk(
                        fields,
                        tag,
                        &step(&format!("{path}[]."), name)?,
                        value,
                        public,
                    )
                })?;
            }
            if any {
                Ok(())
            } else {
                Err(not_allowed(format!("{path} holds nothing")))
            }
        }
        _ => Err(not_allowed(format!("{path} is not on the list of {tag}"))),
    }
}
