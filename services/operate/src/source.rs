//! What the services' sources say, read with `syn`: shapes of JSON, functions, constants.
//!
//! Reading the very types that serde derives from keeps every other description honest without an annotation on any of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use syn::{Attribute, Expr, Fields, Item, ItemEnum, ItemFn, ItemStruct, Lit, Meta};

use crate::files;

/// The sources of some crates.
#[derive(Default)]
pub struct Sources {
    files: Vec<(PathBuf, Vec<Item>)>,
}

impl Sources {
    /// Reads `services/<name>/src` of each name.
    ///
    /// # Errors
    /// When a file cannot be read, or is not Rust.
    pub fn of(crates: &[&str]) -> anyhow::Result<Self> {
        let mut sources = Self::default();
        for name in crates {
            let folder = files::root().join("services").join(name).join("src");
            for path in files::below(&folder, ".rs")? {
                let text = std::fs::read_to_string(&path)?;
                let file =
                    syn::parse_file(&text).with_context(|| format!("read {}", path.display()))?;
                let items = file
                    .items
                    .into_iter()
                    .filter(|item| !is_test(item))
                    .collect();
                sources.files.push((path, items));
            }
        }
        Ok(sources)
    }

    /// Every file and its items, without the tests.
    pub fn files(&self) -> impl Iterator<Item = (&PathBuf, &[Item])> {
        self.files.iter().map(|(path, items)| (path, &items[..]))
    }

    fn items(&self) -> impl Iterator<Item = (usize, &Item)> {
        self.files
            .iter()
            .enumerate()
            .flat_map(|(file, (_, items))| items.iter().map(move |item| (file, item)))
    }

    /// A function and the number of its file. One without `self`, at a file's top.
    #[must_use]
    pub fn function(&self, name: &str, near: Option<usize>) -> Option<(usize, &ItemFn)> {
        let mut found: Vec<(usize, &ItemFn)> = self
            .items()
            .filter_map(|(file, item)| match item {
                Item::Fn(function) if function.sig.ident == name => Some((file, function)),
                _ => None,
            })
            .collect();
        found.sort_by_key(|(file, _)| Some(*file) != near);
        found.first().copied()
    }

    /// The text of a constant.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<String> {
        self.items().find_map(|(_, item)| match item {
            Item::Const(constant) if constant.ident == name => text_of(&constant.expr),
            _ => None,
        })
    }

    /// The shape of a type's JSON: the one in the same file before any other of this name.
    #[must_use]
    pub fn shape(&self, name: &str, near: Option<usize>) -> Option<(usize, Shape)> {
        let mut found: Vec<(usize, Shape)> = self
            .items()
            .filter_map(|(file, item)| match item {
                Item::Struct(one) if one.ident == name && derives(&one.attrs) => {
                    shape_of_struct(one).map(|shape| (file, shape))
                }
                Item::Enum(one) if one.ident == name && derives(&one.attrs) => {
                    Some((file, shape_of_enum(one)))
                }
                _ => None,
            })
            .collect();
        found.sort_by_key(|(file, _)| Some(*file) != near);
        found.into_iter().next()
    }

    /// The number of the file that ends so.
    #[must_use]
    pub fn file(&self, ending: &str) -> Option<usize> {
        self.files
            .iter()
            .position(|(path, _)| path.ends_with(ending))
    }
}

/// What serde makes of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An object with these members.
    Members {
        /// In their order.
        members: Vec<Member>,
        /// Whether another member is refused.
        closed: bool,
    },
    /// An object whose one member names the variant.
    Outside(BTreeMap<String, Variant>),
    /// An object whose member `tag` names the variant.
    Inside {
        /// The member.
        tag: String,
        /// By name.
        variants: BTreeMap<String, Variant>,
    },
}

/// What stands in a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Nothing.
    Unit,
    /// One value of a type.
    One(Type),
    /// Members.
    Members(Vec<Member>),
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// As it stands in JSON.
    pub name: String,
    /// What it is.
    pub kind: Type,
    /// Whether it may be left out.
    pub optional: bool,
    /// The first line of its documentation.
    pub about: String,
}

/// A type as far as JSON shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A type by its last name.
    Named(String),
    /// A list.
    List(Box<Type>),
    /// A value or null.
    Option(Box<Type>),
    /// An object with any names.
    Map(Box<Type>),
}

impl Type {
    /// Reads a type; what is none of these is named by its text.
    #[must_use]
    pub fn of(kind: &syn::Type) -> Self {
        let syn::Type::Path(path) = kind else {
            return match kind {
                syn::Type::Reference(reference) => Self::of(&reference.elem),
                syn::Type::Array(array) => Self::List(Box::new(Self::of(&array.elem))),
                _ => Self::Named("?".to_owned()),
            };
        };
        let Some(last) = path.path.segments.last() else {
            return Self::Named("?".to_owned());
        };
        let inner: Vec<Self> = match &last.arguments {
            syn::PathArguments::AngleBracketed(arguments) => arguments
                .args
                .iter()
                .filter_map(|one| match one {
                    syn::GenericArgument::Type(kind) => Some(Self::of(kind)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let name = last.ident.to_string();
        let first = || {
            Box::new(
                inner
                    .first()
                    .cloned()
                    .unwrap_or(Self::Named("?".to_owned())),
            )
        };
        match name.as_str() {
            "Option" => Self::Option(first()),
            "Vec" => Self::List(first()),
            "Box" | "Arc" | "Cow" => inner.first().cloned().unwrap_or(Self::Named(name)),
            "BTreeMap" | "HashMap" => {
                Self::Map(Box::new(inner.last().cloned().unwrap_or(Self::Named(name))))
            }
            _ => Self::Named(name),
        }
    }
}

/// The first line of the documentation.
#[must_use]
pub fn about(attributes: &[Attribute]) -> String {
    attributes
        .iter()
        .filter(|one| one.path().is_ident("doc"))
        .find_map(|one| match &one.meta {
            Meta::NameValue(pair) => text_of(&pair.value),
            _ => None,
        })
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// The text of a literal.
#[must_use]
pub fn text_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn is_test(item: &Item) -> bool {
    matches!(item, Item::Mod(module) if module.attrs.iter().any(|one| one.path().is_ident("cfg")))
}

fn derives(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|one| {
        one.path().is_ident("derive")
            && one
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string().contains("Deserialize"))
    })
}

/// Words of `#[serde(…)]`: `rename = "x"`, `default`, `deny_unknown_fields`.
#[derive(Default)]
struct Serde {
    words: Vec<String>,
    pairs: BTreeMap<String, String>,
}

impl Serde {
    fn of(attributes: &[Attribute]) -> Self {
        let mut serde = Self::default();
        for attribute in attributes.iter().filter(|one| one.path().is_ident("serde")) {
            // What it cannot read it leaves: another attribute of serde does not change the shape.
            let _ = attribute.parse_nested_meta(|meta| {
                let name = meta
                    .path
                    .get_ident()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                if let Ok(value) = meta.value()
                    && let Ok(Lit::Str(text)) = value.parse::<Lit>()
                {
                    serde.pairs.insert(name.clone(), text.value());
                }
                serde.words.push(name);
                Ok(())
            });
        }
        serde
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|one| one == word)
    }

    fn name(&self, own: &str, all: &Self) -> String {
        if let Some(name) = self.pairs.get("rename") {
            return name.clone();
        }
        match all.pairs.get("rename_all").map(String::as_str) {
            Some("snake_case") => snake(own),
            Some("kebab-case") => kebab(own),
            Some("camelCase") => camel(own),
            Some("lowercase") => own.to_lowercase(),
            _ => own.to_owned(),
        }
    }
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for (index, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// `BankMcp` as `bank-mcp`.
pub(crate) fn kebab(name: &str) -> String {
    snake(name).replace('_', "-")
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut out, part| {
        let mut letters = part.chars();
        out.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        out.push_str(letters.as_str());
        out
    })
}

fn shape_of_struct(one: &ItemStruct) -> Option<Shape> {
    let own = Serde::of(&one.attrs);
    match &one.fields {
        Fields::Named(_) => Some(Shape::Members {
            members: members_of(&one.fields, &own),
            closed: own.has("deny_unknown_fields"),
        }),
        _ => None,
    }
}

fn members_of(fields: &Fields, own: &Serde) -> Vec<Member> {
    fields
        .iter()
        .filter_map(|field| {
            let serde = Serde::of(&field.attrs);
            let name = field.ident.as_ref()?.to_string();
            let kind = Type::of(&field.ty);
            (!serde.has("skip")).then(|| Member {
                name: serde.name(&name, own),
                optional: matches!(kind, Type::Option(_))
                    || serde.has("default")
                    || own.has("default"),
                kind,
                about: about(&field.attrs),
            })
        })
        .collect()
}

fn shape_of_enum(one: &ItemEnum) -> Shape {
    let own = Serde::of(&one.attrs);
    let variants = one
        .variants
        .iter()
        .map(|variant| {
            let name = Serde::of(&variant.attrs).name(&variant.ident.to_string(), &own);
            let inner = match &variant.fields {
                Fields::Unit => Variant::Unit,
                Fields::Unnamed(fields) => fields
                    .unnamed
                    .first()
                    .map_or(Variant::Unit, |field| Variant::One(Type::of(&field.ty))),
                Fields::Named(_) => {
                    Variant::Members(members_of(&variant.fields, &Serde::default()))
                }
            };
            (name, inner)
        })
        .collect();
    match own.pairs.get("tag") {
        Some(tag) => Shape::Inside {
            tag: tag.clone(),
            variants,
        },
        None => Shape::Outside(variants),
    }
}
