//! OpenAPI of every HTTP surface, made from routers, handlers and the types that serde derives from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::routes::{self, Route, Takes};
use crate::source::{Member, Shape, Sources, Type, Variant};

/// One surface: the file it is written to and where its routers stand.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// The name of its file in `docs/openapi`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// The crates that handlers and types are in, the service's own first.
    crates: &'static [&'static str],
    /// The ends of the paths of its routers' files.
    routers: &'static [&'static str],
    /// How a caller shows who it is.
    security: Security,
}

#[derive(Clone, Copy, Debug)]
enum Security {
    Cookie(&'static str),
    Bearer,
    None,
}

/// Every surface.
pub const SURFACES: [Surface; 7] = [
    Surface {
        name: "panel",
        about: "The customer's page: cards, Confirm, receipts. The only surface that can move money.",
        crates: &["panel", "sign-in", "execution", "step-up", "domain"],
        routers: &["panel/src/router.rs", "sign-in/src/web.rs"],
        security: Security::Cookie("__Host-countersign-panel"),
    },
    Surface {
        name: "intake",
        about: "The chat's origin: records what the customer types and relays the reply. It knows no cookie.",
        crates: &["intake", "domain"],
        routers: &["intake/src/router.rs"],
        security: Security::Bearer,
    },
    Surface {
        name: "dashboard",
        about: "What operators read.",
        crates: &["dashboard", "sign-in", "domain"],
        routers: &["dashboard/src/router.rs", "sign-in/src/web.rs"],
        security: Security::Cookie("__Host-countersign-dashboard"),
    },
    Surface {
        name: "agent",
        about: "Drives the model for one turn; only the chat's origin calls it.",
        crates: &["agent", "domain"],
        routers: &["agent/src/router.rs"],
        security: Security::Bearer,
    },
    Surface {
        name: "door",
        about: "The allowlist proxy: MCP over HTTP, both revisions. What a message holds is MCP's own specification.",
        crates: &["door"],
        routers: &["door/src/http/router.rs", "door/src/http/metadata.rs"],
        security: Security::Bearer,
    },
    Surface {
        name: "approvals",
        about: "The door's page for calls that wait for a person.",
        crates: &["door"],
        routers: &["door/src/approval/page.rs"],
        security: Security::Bearer,
    },
    Surface {
        name: "bank-mcp",
        about: "The bank as an MCP server. It takes nothing without the door's token for that very call.",
        crates: &["bank-mcp"],
        routers: &["bank-mcp/src/app.rs"],
        security: Security::None,
    },
];

/// The document of one surface.
///
/// # Errors
/// When the sources cannot be read, or a router has no route.
pub fn document(surface: &Surface) -> anyhow::Result<Value> {
    let sources = Sources::of(surface.crates)?;
    let routes = routes::of(&sources, |path| {
        surface.routers.iter().any(|end| path.ends_with(end))
    })?;
    let mut schemas = Schemas {
        sources: &sources,
        named: BTreeMap::new(),
        open: BTreeSet::new(),
    };
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for route in &routes {
        // Axum's rest of a path is a path parameter like any other here.
        let path = route.path.replace("{*", "{");
        let operation = operation(route, &path, &mut schemas);
        paths
            .entry(path)
            .or_default()
            .insert(route.method.clone(), operation);
    }
    let mut components = json!({
        "schemas": schemas.named,
        "responses": {"Problem": {
            "description": "What was wrong, as RFC 9457 problem details; pages answer with a page",
            "content": {"application/problem+json": {"schema": {
                "type": "object",
                "properties": {"type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"}},
            }}, "text/html": {}},
        }},
    });
    // A message of MCP is refused with a message.
    if paths.contains_key("/mcp") {
        components["responses"]["Problem"]["content"]["application/json"] = json!({});
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {"title": format!("Countersign {}", surface.name), "description": surface.about, "version": env!("CARGO_PKG_VERSION"), "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        "paths": paths,
    });
    let scheme = match surface.security {
        Security::Cookie(name) => Some(json!({"type": "apiKey", "in": "cookie", "name": name})),
        Security::Bearer => Some(json!({"type": "http", "scheme": "bearer"})),
        Security::None => None,
    };
    if let Some(scheme) = scheme {
        components["securitySchemes"] = json!({"session": scheme});
        document["security"] = json!([{"session": []}]);
    }
    document["components"] = components;
    Ok(document)
}

fn operation(route: &Route, path: &str, schemas: &mut Schemas<'_>) -> Value {
    let mut parameters: Vec<Value> = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    let mut operation = json!({
        "operationId": format!("{}_{}", route.method, identifier(path)),
        "summary": route.about,
        "responses": {
            "2XX": {"description": "Done, or shown"},
            "3XX": {"description": "Goes on at another address, or nothing new"},
            "default": {"$ref": "#/components/responses/Problem"},
        },
    });
    for takes in &route.takes {
        match takes {
            Takes::Json(kind) => {
                operation["requestBody"] = body("application/json", schemas.of(kind, route.file))
            }
            Takes::Form(kind) => {
                operation["requestBody"] = body(
                    "application/x-www-form-urlencoded",
                    schemas.of(kind, route.file),
                );
            }
            Takes::Text => operation["requestBody"] = json!({"content": {"*/*": {}}}),
            Takes::Query(kind) => parameters.extend(schemas.query(kind, route.file)),
        }
    }
    if route.takes.is_empty() && route.path == "/mcp" && route.method == "post" {
        operation["requestBody"] = body(
            "application/json",
            json!({"type": "object", "description": "One JSON-RPC message of MCP"}),
        );
    }
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if route.path == "/health" || route.path.starts_with("/.well-known/") {
        operation["security"] = json!([]);
    }
    operation
}

fn body(kind: &str, schema: Value) -> Value {
    json!({"required": true, "content": {kind: {"schema": schema}}})
}

fn identifier(path: &str) -> String {
    let letters = path.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '_'
        }
    });
    let text: String = letters.collect();
    let parts: Vec<&str> = text.split('_').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        "root".to_owned()
    } else {
        parts.join("_")
    }
}

struct Schemas<'a> {
    sources: &'a Sources,
    named: BTreeMap<String, Value>,
    open: BTreeSet<String>,
}

impl Schemas<'_> {
    fn of(&mut self, kind: &Type, near: Option<usize>) -> Value {
        match kind {
            Type::Option(inner) => {
                let inner = self.of(inner, near);
                json!({"anyOf": [inner, {"type": "null"}]})
            }
            Type::List(inner) => json!({"type": "array", "items": self.of(inner, near)}),
            Type::Map(inner) => {
                json!({"type": "object", "additionalProperties": self.of(inner, near)})
            }
            Type::Named(name) => self.named(name, near),
        }
    }

    fn named(&mut self, name: &str, near: Option<usize>) -> Value {
        match name {
            "bool" => return json!({"type": "boolean"}),
            "u8" | "u16" | "u32" | "u64" | "usize" => {
                return json!({"type": "integer", "minimum": 0});
            }
            "i16" | "i32" | "i64" => return json!({"type": "integer"}),
            "Value" => return json!({}),
            "String" => return json!({"type": "string"}),
            _ => {}
        }
        let Some((file, shape)) = self.sources.shape(name, near) else {
            // Ids, secrets, dates: texts with a form of their own.
            return json!({"type": "string", "description": name});
        };
        // `Input` is the name of many: each under the name of its file.
        let own = self.name(name, file);
        if self.open.insert(own.clone()) {
            let schema = self.schema(&shape, file);
            self.named.insert(own.clone(), schema);
        }
        json!({"$ref": format!("#/components/schemas/{own}")})
    }

    fn name(&self, name: &str, file: usize) -> String {
        let stem = self
            .sources
            .files()
            .nth(file)
            .and_then(|(path, _)| path.file_stem());
        let stem = stem.unwrap_or_default().to_string_lossy();
        format!("{stem}.{name}")
    }

    fn schema(&mut self, shape: &Shape, file: usize) -> Value {
        match shape {
            Shape::Members { members, closed } => {
                let mut schema = self.members(members, file);
                if *closed {
                    schema["additionalProperties"] = false.into();
                }
                schema
            }
            Shape::Outside(variants) if variants.values().all(|one| *one == Variant::Unit) => {
                json!({"type": "string", "enum": variants.keys().collect::<Vec<_>>()})
            }
            Shape::Outside(variants) => {
                let each = variants.iter().map(|(name, variant)| match variant {
                    Variant::Unit => json!({"const": name}),
                    Variant::One(kind) => {
                        let inner = self.of(kind, Some(file));
                        json!({"type": "object", "properties": {name: inner}, "required": [name]})
                    }
                    Variant::Members(members) => {
                        let inner = self.members(members, file);
                        json!({"type": "object", "properties": {name: inner}, "required": [name]})
                    }
                });
                json!({"oneOf": each.collect::<Vec<_>>()})
            }
            Shape::Inside { tag, variants } => {
                let each = variants.iter().map(|(name, variant)| {
                    let own = json!({"type": "object", "properties": {tag: {"const": name}}, "required": [tag]});
                    match variant {
                        Variant::Unit => own,
                        Variant::One(kind) => json!({"allOf": [own, self.of(kind, Some(file))]}),
                        Variant::Members(members) => json!({"allOf": [own, self.members(members, file)]}),
                    }
                });
                json!({"oneOf": each.collect::<Vec<_>>()})
            }
        }
    }

    fn members(&mut self, members: &[Member], file: usize) -> Value {
        let mut properties = Map::new();
        for member in members {
            let mut schema = self.of(&member.kind, Some(file));
            if !member.about.is_empty() {
                schema["description"] = member.about.clone().into();
            }
            properties.insert(member.name.clone(), schema);
        }
        let required: Vec<&str> = members
            .iter()
            .filter(|one| !one.optional)
            .map(|one| one.name.as_str())
            .collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    fn query(&mut self, kind: &Type, near: Option<usize>) -> Vec<Value> {
        let Type::Named(name) = kind else {
            return Vec::new();
        };
        let Some((file, Shape::Members { members, .. })) = self.sources.shape(name, near) else {
            return Vec::new();
        };
        members
            .iter()
            .map(|member| {
                let kind = match &member.kind {
                    Type::Option(inner) => inner,
                    other => other,
                };
                json!({"name": member.name, "in": "query", "required": !member.optional, "schema": self.of(kind, Some(file))})
            })
            .collect()
    }
}
