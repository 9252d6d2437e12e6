//! A token arrives in one header, once.

use crate::TokenError;

/// The one value of a token header, as text.
///
/// Two headers of the same name, or two values joined by a comma, leave open which one a reader
/// picks, so both are refused.
///
/// # Errors
/// [`TokenError::Missing`] for no value, [`TokenError::MoreThanOne`] for several or a comma,
/// [`TokenError::Form`] for bytes that are no visible ASCII.
pub fn exactly_one<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<&'a str, TokenError> {
    let mut values = values.into_iter();
    let only = values.next().ok_or(TokenError::Missing)?;
    if values.next().is_some() || only.contains(&b',') {
        return Err(TokenError::MoreThanOne);
    }
    if !only.iter().all(u8::is_ascii_graphic) {
        return Err(TokenError::Form);
    }
    std::str::from_utf8(only).map_err(|_| TokenError::Form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_headers_or_a_comma_are_refused() {
        assert_eq!(exactly_one([b"a.b.c".as_slice()]), Ok("a.b.c"));
        assert_eq!(exactly_one([]), Err(TokenError::Missing));
        assert_eq!(
            exactly_one([b"a.b.c".as_slice(), b"a.b.c"]),
            Err(TokenError::MoreThanOne)
        );
        assert_eq!(
            exactly_one([b"a.b.c,a.b.c".as_slice()]),
            Err(TokenError::MoreThanOne)
        );
        assert_eq!(exactly_one([b"a b".as_slice()]), Err(TokenError::Form));
        assert_eq!(exactly_one([b"a\xff".as_slice()]), Err(TokenError::Form));
    }
}
