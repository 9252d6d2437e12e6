//! `GET` and `POST /explain`: a conversation pasted by the operator, explained. Nothing of it is kept.

use askama::Template;
use axum::{Form, http::StatusCode, response::Response};
use countersign_domain::Currency;
use serde::Deserialize;

use crate::{
    conversation::{Conversation, Named, Typed},
    explain::{Explanation, explain},
    page::{Shell, render},
    session::Operator,
};

/// Most messages of a pasted conversation.
const MESSAGES_MAX: usize = 200;
/// Most payees of a pasted conversation.
const PAYEES_MAX: usize = 100;

/// The form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    messages: String,
    payees: String,
    locale: String,
    currency: String,
}

#[derive(Template)]
#[template(path = "explain.html")]
struct Page {
    shell: Shell,
    form: FormShown,
    currencies: Vec<&'static str>,
    explanation: Option<Explanation>,
    action: Option<String>,
}

/// The form as it is shown again.
struct FormShown {
    messages: String,
    payees: String,
    locale: String,
    currency: String,
}

/// The empty form.
pub async fn show_explain(operator: Operator) -> Response {
    let form = FormShown {
        messages: String::new(),
        payees: "Alice\nBob".into(),
        locale: "en".into(),
        currency: "EUR".into(),
    };
    show(&operator, "/explain", form, None, None)
}

/// Explains what was pasted.
pub async fn explain_pasted(operator: Operator, Form(input): Form<Input>) -> Response {
    let lines = |text: &str, most: usize| {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .take(most)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let conversation = Conversation {
        locale: input.locale.trim().to_owned(),
        payees: lines(&input.payees, PAYEES_MAX)
            .into_iter()
            .map(|name| Named { name, alias: None })
            .collect(),
        messages: lines(&input.messages, MESSAGES_MAX)
            .into_iter()
            .map(|body| Typed {
                body,
                spans: Vec::new(),
            })
            .collect(),
    };
    let currency = input.currency.parse().unwrap_or(Currency::Eur);
    let explanation = explain(&conversation, currency);
    let form = FormShown {
        messages: input.messages,
        payees: input.payees,
        locale: input.locale,
        currency: currency.code().to_owned(),
    };
    show(&operator, "/explain", form, Some(explanation), None)
}

/// The page of a conversation that was read from the bank.
pub fn show_explained(
    operator: &Operator,
    action: &str,
    read: &Conversation,
    explanation: Explanation,
) -> Response {
    let form = FormShown {
        messages: String::new(),
        payees: String::new(),
        locale: read.locale.clone(),
        currency: "EUR".into(),
    };
    show(
        operator,
        "",
        form,
        Some(explanation),
        Some(action.to_owned()),
    )
}

fn show(
    operator: &Operator,
    path: &'static str,
    form: FormShown,
    explanation: Option<Explanation>,
    action: Option<String>,
) -> Response {
    let page = Page {
        shell: Shell::signed_in(operator, path),
        form,
        currencies: Currency::ALL.map(Currency::code).to_vec(),
        explanation,
        action,
    };
    render(StatusCode::OK, &page)
}
