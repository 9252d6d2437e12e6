//! The routes that a service's routers name, with what each handler takes.

use anyhow::Context;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, FnArg};

use crate::source::{self, Sources, Type};

/// One route and method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// As the router has it, such as `/api/actions/{action}/confirm`.
    pub path: String,
    /// In lower case.
    pub method: String,
    /// The handler's name.
    pub handler: String,
    /// The first sentence of the handler's documentation.
    pub about: String,
    /// The file of the handler, for types beside it.
    pub file: Option<usize>,
    /// What it takes of the request.
    pub takes: Vec<Takes>,
}

/// One part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A JSON body.
    Json(Type),
    /// A form's body.
    Form(Type),
    /// The query.
    Query(Type),
    /// A text body.
    Text,
}

const METHODS: [&str; 5] = ["get", "post", "put", "delete", "patch"];

/// Every route of a crate's routers, in the files that `is_router` picks.
///
/// # Errors
/// When a route's path is neither a literal nor a constant, or nothing is found.
pub fn of(sources: &Sources, is_router: impl Fn(&str) -> bool) -> anyhow::Result<Vec<Route>> {
    let mut found = Vec::new();
    for (path, items) in sources.files() {
        if !is_router(&path.to_string_lossy()) {
            continue;
        }
        let mut calls = Calls::default();
        items.iter().for_each(|item| calls.visit_item(item));
        for (place, target, is_service) in &calls.0 {
            // A path that is made from the config, such as the metadata's of a resource, is known only while running.
            if matches!(place, Expr::Reference(inner) if matches!(*inner.expr, Expr::Field(_))) {
                continue;
            }
            let place = source::text_of(place)
                .or_else(|| sources.constant(&last_name(place)?))
                .with_context(|| format!("{}: a route's path is a text", path.display()))?;
            if *is_service {
                found.push(route(sources, &place, "post", None));
                continue;
            }
            let mut handlers = Vec::new();
            handlers_of(target, &mut handlers);
            for (method, handler) in handlers {
                found.push(route(sources, &place, &method, handler));
            }
        }
    }
    anyhow::ensure!(!found.is_empty(), "no route was found");
    found.sort_by(|one, other| (&one.path, &one.method).cmp(&(&other.path, &other.method)));
    Ok(found)
}

fn route(sources: &Sources, path: &str, method: &str, handler: Option<String>) -> Route {
    let function = handler
        .as_deref()
        .and_then(|name| sources.function(name, None));
    let takes = function.map(|(_, function)| {
        function.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => takes_of(&typed.ty),
            FnArg::Receiver(_) => None,
        })
    });
    Route {
        path: path.to_owned(),
        method: method.to_owned(),
        about: function.map_or_else(String::new, |(_, one)| source::about(&one.attrs)),
        file: function.map(|(file, _)| file),
        takes: takes.into_iter().flatten().collect(),
        handler: handler.unwrap_or_else(|| "service".to_owned()),
    }
}

/// What an argument takes, looking through `Result<Json<T>, …>`.
fn takes_of(kind: &syn::Type) -> Option<Takes> {
    let syn::Type::Path(path) = kind else {
        return None;
    };
    let last = path.path.segments.last()?;
    if last.ident == "String" || last.ident == "Bytes" {
        return Some(Takes::Text);
    }
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let syn::GenericArgument::Type(inner) = arguments.args.first()? else {
        return None;
    };
    match last.ident.to_string().as_str() {
        "Json" => Some(Takes::Json(Type::of(inner))),
        "Form" => Some(Takes::Form(Type::of(inner))),
        "Query" => Some(Takes::Query(Type::of(inner))),
        "Result" => takes_of(inner),
        _ => None,
    }
}

/// `.route(path, methods)` and `.route_service(path, service)`.
#[derive(Default)]
struct Calls(Vec<(Expr, Expr, bool)>);

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let is_service = call.method == "route_service";
        if (call.method == "route" || is_service) && call.args.len() == 2 {
            self.0
                .push((call.args[0].clone(), call.args[1].clone(), is_service));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {
        // Modules in a router's file are its tests.
    }
}

/// `get(a).post(b)`: methods with their handlers' names.
fn handlers_of(target: &Expr, into: &mut Vec<(String, Option<String>)>) {
    match target {
        Expr::MethodCall(call) => {
            handlers_of(&call.receiver, into);
            let method = call.method.to_string();
            if METHODS.contains(&method.as_str()) {
                into.push((method, call.args.first().and_then(last_name)));
            }
        }
        Expr::Call(call) => {
            let Some(name) = last_name(&call.func) else {
                return;
            };
            if METHODS.contains(&name.as_str()) {
                into.push((name, call.args.first().and_then(last_name)));
            } else {
                // A function that makes the answer to a question.
                into.push(("get".to_owned(), Some(name)));
            }
        }
        _ => {}
    }
}

fn last_name(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Path(path) => path.path.segments.last().map(|one| one.ident.to_string()),
        Expr::Reference(inner) => last_name(&inner.expr),
        _ => None,
    }
}
