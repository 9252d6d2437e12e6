//! The list of language files. Adding a language is adding its file and a line here.

/// One text for each language.
pub(crate) const LANGUAGE_FILES: &[&str] = &[
    include_str!("../lang/en.txt"),
    include_str!("../lang/de.txt"),
    include_str!("../lang/fr.txt"),
    include_str!("../lang/es.txt"),
    include_str!("../lang/pt.txt"),
    include_str!("../lang/it.txt"),
    include_str!("../lang/nl.txt"),
    include_str!("../lang/pl.txt"),
    include_str!("../lang/hi-latn.txt"),
];
