//! A service's config, compared with the type that the service reads it into.
//!
//! Templates in `docs/deploy/config` hold places for secrets: `{"$login": role}` an address of the database, `{"$key": name}` a private key,
//! `{"$public": name}` its public half, `{"$secret": name}` another secret, `{"$file": path}` a file's text.

use serde_json::Value;

use crate::source::{Member, Shape, Sources, Type, Variant};

/// The crates whose types configs are made of, beside the service's own.
const SHARED: [&str; 8] = [
    "serve", "keys", "models", "sign-in", "identity", "receipts", "journal", "domain",
];

/// What fills a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The database as this login.
    Login(String),
    /// A private key.
    Key(String),
    /// A public key.
    Public(String),
    /// Any other secret.
    Secret(String),
    /// A file of the checkout.
    File(String),
}

impl Place {
    /// The place that a value is; none for an ordinary value.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        let object = value.as_object().filter(|object| object.len() == 1)?;
        let (kind, name) = object.iter().next()?;
        let name = name.as_str()?.to_owned();
        match kind.as_str() {
            "$login" => Some(Self::Login(name)),
            "$key" => Some(Self::Key(name)),
            "$public" => Some(Self::Public(name)),
            "$secret" => Some(Self::Secret(name)),
            "$file" => Some(Self::File(name)),
            _ => None,
        }
    }

    /// The types that such a value can be read into.
    const fn kinds(&self) -> &'static [&'static str] {
        match self {
            Self::Login(_) | Self::Secret(_) => &["Secret"],
            Self::Key(_) => &["SigningKeyFile", "LogKeyFile", "SigningKeySource"],
            Self::Public(_) => &["VerifyingKeyFile", "PublicKeyFile"],
            Self::File(_) => &["String"],
        }
    }
}

/// What is wrong with a config, and the places in it with the member that each stands in.
#[derive(Debug, Default)]
pub struct Checked {
    /// One line each.
    pub wrong: Vec<String>,
    /// Member and place.
    pub places: Vec<(String, Place)>,
}

/// Compares a config with `Config` of a service.
///
/// # Errors
/// When the sources cannot be read, or there is no such type.
pub fn check(service: &str, config: &Value) -> anyhow::Result<Checked> {
    let mut crates = vec![service];
    crates.extend(SHARED);
    let sources = Sources::of(&crates)?;
    let near = sources.file(&format!("services/{service}/src/config.rs"));
    let mut checked = Checked::default();
    Walk {
        sources: &sources,
        checked: &mut checked,
    }
    .value(config, &Type::Named("Config".to_owned()), near, "");
    Ok(checked)
}

struct Walk<'a> {
    sources: &'a Sources,
    checked: &'a mut Checked,
}

impl Walk<'_> {
    fn wrong(&mut self, at: &str, what: &str) {
        self.checked.wrong.push(format!("{at}: {what}"));
    }

    fn value(&mut self, value: &Value, kind: &Type, near: Option<usize>, at: &str) {
        if let Some(place) = Place::of(value) {
            let named = match kind {
                Type::Named(name) => name.as_str(),
                Type::Option(inner) => match &**inner {
                    Type::Named(name) => name.as_str(),
                    _ => "?",
                },
                _ => "?",
            };
            if !place.kinds().contains(&named) {
                self.wrong(at, &format!("{place:?} stands where a {named} belongs"));
            }
            self.checked.places.push((at.to_owned(), place));
            return;
        }
        match kind {
            Type::Option(_) if value.is_null() => {}
            Type::Option(inner) => self.value(value, inner, near, at),
            Type::List(inner) => match value.as_array() {
                Some(list) => list.iter().for_each(|one| self.value(one, inner, near, at)),
                None => self.wrong(at, "is no list"),
            },
            Type::Map(inner) => match value.as_object() {
                Some(object) => object
                    .values()
                    .for_each(|one| self.value(one, inner, near, at)),
                None => self.wrong(at, "is no object"),
            },
            Type::Named(name) => self.named(value, name, near, at),
        }
    }

    fn named(&mut self, value: &Value, name: &str, near: Option<usize>, at: &str) {
        // Either in the config itself or in a file that changes; which of them is told by the value's form.
        let either = match name {
            "VerifyingKeySource" if value.is_array() => Some(Type::List(Box::new(Type::Named(
                "VerifyingKeyFile".to_owned(),
            )))),
            "VerifyingKeySource" => Some(Type::Named("JwksFile".to_owned())),
            "SigningKeySource" => Some(Type::Named("FolderOfKeys".to_owned())),
            _ => None,
        };
        if let Some(kind) = either {
            return self.value(value, &kind, near, at);
        }
        let plain = match name {
            "String" | "PathBuf" | "Origin" | "SocketAddr" => Some(value.is_string()),
            "bool" => Some(value.is_boolean()),
            "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => {
                Some(value.is_i64() || value.is_u64())
            }
            // A secret written out in a file of the checkout would be none.
            "Secret" | "SigningKeyFile" | "LogKeyFile" => Some(false),
            _ => None,
        };
        if let Some(fits) = plain {
            if !fits {
                self.wrong(at, &format!("is no {name}"));
            }
            return;
        }
        match self.sources.shape(name, near) {
            Some((file, Shape::Members { members, closed })) => {
                if !closed {
                    self.wrong(at, &format!("{name} takes members that it does not know"));
                }
                self.members(value, &members, &[], Some(file), at);
            }
            Some((file, Shape::Outside(variants))) => {
                let only = value.as_object().filter(|object| object.len() == 1);
                match only.and_then(|object| object.iter().next()) {
                    Some((variant, inner)) => {
                        self.variant(inner, variants.get(variant), &[], Some(file), at);
                    }
                    None if value.as_str().is_some_and(|one| variants.contains_key(one)) => {}
                    None => self.wrong(at, &format!("is no {name}")),
                }
            }
            Some((file, Shape::Inside { tag, variants })) => {
                let variant = value[&tag].as_str().and_then(|one| variants.get(one));
                self.variant(value, variant, &[&tag], Some(file), at);
            }
            None => self.wrong(at, &format!("{name} is a type that nobody knows")),
        }
    }

    fn variant(
        &mut self,
        value: &Value,
        variant: Option<&Variant>,
        known: &[&str],
        near: Option<usize>,
        at: &str,
    ) {
        match variant {
            Some(Variant::Unit) => {}
            Some(Variant::One(kind)) => self.value(value, kind, near, at),
            Some(Variant::Members(members)) => self.members(value, members, known, near, at),
            None => self.wrong(at, "is no variant that there is"),
        }
    }

    fn members(
        &mut self,
        value: &Value,
        members: &[Member],
        known: &[&str],
        near: Option<usize>,
        at: &str,
    ) {
        let Some(object) = value.as_object() else {
            return self.wrong(at, "is no object");
        };
        let below = |name: &str| {
            if at.is_empty() {
                name.to_owned()
            } else {
                format!("{at}.{name}")
            }
        };
        for name in object.keys() {
            if !known.contains(&name.as_str()) && !members.iter().any(|one| one.name == *name) {
                self.wrong(&below(name), "is no member that the service knows");
            }
        }
        for member in members {
            match object.get(&member.name) {
                Some(inner) => self.value(inner, &member.kind, near, &below(&member.name)),
                None if member.optional => {}
                None => self.wrong(&below(&member.name), "is missing"),
            }
        }
    }
}
