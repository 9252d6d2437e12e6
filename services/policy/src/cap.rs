//! Caps: how much the amounts of a tool may come to, in one call, one day, one session.

use countersign_wire::{Type, Value};

use crate::arguments::{Arguments, Shape};
use crate::decimal::Decimal;
use crate::file::CapFile;
use crate::read::{PolicyError, meaning};

/// Why a cap stops a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CapProblem {
    /// The amount is not there.
    Missing,
    /// The amount is no plain number that can be counted exactly.
    NotANumber,
    /// The call alone reaches the cap.
    PerCall,
    /// The day reaches the cap.
    PerDay,
    /// The session reaches the cap, or nobody knows which session it is.
    PerSession,
    /// There is nothing to count with.
    NotCounted,
}

impl CapProblem {
    /// The stable code of a refusal.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Missing => "cap_amount_missing",
            Self::NotANumber => "cap_amount_not_a_number",
            Self::PerCall => "cap_per_call",
            Self::PerDay => "cap_per_day",
            Self::PerSession => "cap_per_session",
            Self::NotCounted => "cap_not_counted",
        }
    }
}

/// A cap, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Cap {
    /// The line of the policy it stands in; its counts are kept under this name.
    pub rule: Box<str>,
    /// The declared argument it begins with.
    pub argument: Box<str>,
    path: Box<[Step]>,
    pub per_call: Option<Decimal>,
    pub per_day: Option<Decimal>,
    pub per_session: Option<Decimal>,
}

/// One step of the path to an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(Box<str>),
    Elements,
}

impl Cap {
    /// Compiles a cap over the declared arguments of its tool.
    pub fn compile(
        path: &str,
        rule: &str,
        file: &CapFile,
        arguments: &Arguments,
    ) -> Result<Self, PolicyError> {
        let argument_path = format!("{path}.argument");
        let steps = steps(&file.argument)
            .ok_or_else(|| meaning(&*argument_path, "a path such as `amount` is wanted"))?;
        check_declared(&argument_path, &steps, arguments)?;
        let limit = |key: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => match text.parse() {
                Ok(Decimal::ZERO) | Err(_) => Err(meaning(
                    format!("{path}.{key}"),
                    "a decimal number above zero is wanted, such as \"100.00\"",
                )),
                Ok(limit) => Ok(Some(limit)),
            },
        };
        let cap = Self {
            rule: rule.into(),
            argument: file.argument.as_str().into(),
            path: steps,
            per_call: limit("per_call", &file.per_call)?,
            per_day: limit("per_day", &file.per_day)?,
            per_session: limit("per_session", &file.per_session)?,
        };
        if cap.per_call.or(cap.per_day).or(cap.per_session).is_none() {
            return Err(meaning(
                path,
                "a cap needs per_call, per_day or per_session",
            ));
        }
        Ok(cap)
    }

    /// What the arguments of a call come to.
    pub fn amount(&self, arguments: Option<Value<'_>>) -> Result<Decimal, CapProblem> {
        let arguments = arguments.ok_or(CapProblem::Missing)?;
        let mut sum = Decimal::ZERO;
        let mut found = false;
        add_up(arguments, &self.path, &mut |amount| {
            found = true;
            sum = sum.checked_add(amount).ok_or(CapProblem::NotANumber)?;
            Ok(())
        })?;
        if found {
            Ok(sum)
        } else {
            Err(CapProblem::Missing)
        }
    }
}

/// `payments[].amount` as steps.
fn steps(text: &str) -> Option<Box<[Step]>> {
    let mut steps = Vec::new();
    for part in text.split('.') {
        let name = part.trim_end_matches("[]");
        if name.is_empty() || name.contains(['[', ']', ' ']) {
            return None;
        }
        steps.push(Step::Member(name.into()));
        steps.extend((0..(part.len() - name.len()) / 2).map(|_| Step::Elements));
    }
    Some(steps.into())
}

/// A cap without its argument fails at start: every step must be declared.
fn check_declared(path: &str, steps: &[Step], arguments: &Arguments) -> Result<(), PolicyError> {
    let undeclared = || {
        meaning(
            path,
            "the tool declares no such argument: a cap needs its argument",
        )
    };
    let Some((Step::Member(name), mut rest)) = steps.split_first() else {
        return Err(undeclared());
    };
    let mut spec = arguments.spec(name).ok_or_else(undeclared)?;
    loop {
        spec = match (&spec.shape, rest.split_first()) {
            (Shape::Text { .. } | Shape::Integer { .. } | Shape::Number { .. }, None) => {
                return Ok(());
            }
            (Shape::Array { items, .. }, Some((Step::Elements, after))) => {
                rest = after;
                items
            }
            (Shape::Object(members), Some((Step::Member(name), after))) => {
                rest = after;
                members.spec(name).ok_or_else(undeclared)?
            }
            (_, None) => return Err(meaning(path, "a cap counts strings and numbers alone")),
            _ => return Err(undeclared()),
        };
    }
}

fn add_up(
    value: Value<'_>,
    path: &[Step],
    add: &mut impl FnMut(Decimal) -> Result<(), CapProblem>,
) -> Result<(), CapProblem> {
    match path.split_first() {
        None => add(read(value)?),
        Some((Step::Member(name), rest)) => {
            let member = value.get(name).ok_or(CapProblem::Missing)?;
            add_up(member, rest, add)
        }
        Some((Step::Elements, rest)) => {
            if value.kind() != Type::Array {
                return Err(CapProblem::NotANumber);
            }
            value
                .elements()
                .try_for_each(|element| add_up(element, rest, add))
        }
    }
}

/// An amount: decimal text, or a number. What is below zero would give money back.
fn read(value: Value<'_>) -> Result<Decimal, CapProblem> {
    let amount = match (value.as_str(), value.as_number_text()) {
        (Some(text), _) => text.parse().ok(),
        (None, Some(number)) => Decimal::from_json_number(number).ok(),
        (None, None) => None,
    };
    amount
        .filter(|amount| !amount.is_negative())
        .ok_or(CapProblem::NotANumber)
}
