//! The list of language files. Adding a language is adding its file and a line here.

/// One text for each language.
pub(crate) const LANGUAGE_FILES: &[&str] = &[include_str!("../lang/en.txt")];
