//! Whether the name of a payee is the name of the account's holder.

/// What a check of a payee's name against their account said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameCheck {
    /// Nothing to check: an own account, or money that goes back where it came from.
    NotChecked,
    /// The name is the holder's.
    Match,
    /// The name is nearly the holder's.
    Close,
    /// The account is in another name.
    NoMatch,
    /// Whoever holds the account could not be asked, or did not say.
    Unavailable,
}

impl NameCheck {
    /// What a check answers, by its code; nothing for any other text, "not checked" among them.
    pub fn answered(text: &str) -> Option<Self> {
        [Self::Match, Self::Close, Self::NoMatch, Self::Unavailable]
            .into_iter()
            .find(|answer| answer.text() == text)
    }

    /// Its code in records.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotChecked => "not_checked",
            Self::Match => "match",
            Self::Close => "close",
            Self::NoMatch => "no_match",
            Self::Unavailable => "unavailable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reads_back_and_nothing_else_is_one() {
        for code in ["match", "close", "no_match", "unavailable"] {
            assert_eq!(NameCheck::answered(code).map(NameCheck::text), Some(code));
        }
        for other in ["not_checked", "MATCH", "matched", ""] {
            assert_eq!(NameCheck::answered(other), None, "{other}");
        }
    }
}
