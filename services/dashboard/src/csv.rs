//! Lists as files for a spreadsheet (RFC 4180).

use axum::{
    http::header,
    response::{IntoResponse, Response},
};

/// A file of rows under their headings, offered under a name.
pub fn file(
    name: &str,
    headings: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Response {
    let mut text = String::new();
    let first = headings
        .iter()
        .map(|heading| (*heading).to_owned())
        .collect();
    for row in std::iter::once(first).chain(rows) {
        let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    let headers = [
        (
            header::CONTENT_TYPE,
            "text/csv; charset=utf-8; header=present".to_owned(),
        ),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}.csv\""),
        ),
    ];
    (headers, text).into_response()
}

/// A cell. What a spreadsheet would take for a formula is kept text by a quote before it.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!(
        "\"{}{}\"",
        if formula { "'" } else { "" },
        cell.replace('"', "\"\"")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_one_cell_and_text() {
        assert_eq!(quoted("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
    }
}
