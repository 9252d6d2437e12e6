//! Values as they stand in SQL text. The runner writes as a superuser into a bank of its own; nothing of it serves anybody.

use uuid::Uuid;

/// A text.
#[must_use]
pub fn literal(text: &str) -> String {
    // PostgreSQL's text holds no NUL; backslashes mean nothing inside plain quotes.
    format!("'{}'", text.replace('\0', "").replace('\'', "''"))
}

/// An id.
#[must_use]
pub fn uuid_literal(id: Uuid) -> String {
    format!("'{id}'::uuid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_stays_inside() {
        assert_eq!(literal("it's; DROP"), "'it''s; DROP'");
    }
}
