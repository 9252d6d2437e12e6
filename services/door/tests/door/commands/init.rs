//! `init`: a policy to start with, and what clients need.

use super::Folder;

/// A server on pipes, in the shell's own words: it answers the handshake and one list.
pub const SERVER: &str = r#"
while IFS= read -r line; do
  case "$line" in
    *'"initialize"'*) printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/message","params":{}}' \
        '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'"tools/list"'*cursor*) printf '{"jsonrpc":"2.0","id":3,"result":{"tools":[%s]}}\n' "$SECOND" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[%s],"nextCursor":"2"}}\n' "$FIRST" ;;
  esac
done
"#;

const OFFERED: &str = r##"{"tools":[
    {"name":"read_page","description":"Reads.","inputSchema":{"type":"object","required":["path"],"properties":{
        "path":{"type":"string","maxLength":200},"lines":{"type":"integer","minimum":1},
        "as":{"enum":["text","html"]},"where":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}},
    {"name":"list_pages","inputSchema":{"type":"object"}},
    {"name":"delete_page","inputSchema":{"type":"object"}},
    {"name":"odd name","inputSchema":{"type":"object"}}]}"##;

#[test]
fn a_policy_is_written_from_what_a_server_offers() {
    let folder = Folder::new();
    folder.write("offered.json", OFFERED);
    let said = folder.run(
        &[
            "init",
            "--name",
            "pages",
            "--definitions",
            "offered.json",
            "--client",
            "claude-desktop",
            "--client",
            "codex",
            "--",
            "npx",
            "-y",
            "@example/pages",
            "/data dir",
        ],
        "",
        &[],
    );
    assert_eq!(said.code, 0, "{said:?}");
    insta::assert_snapshot!(said.whole());
}

#[test]
fn files_are_written_once_and_never_over_others() {
    let folder = Folder::new();
    folder.write("offered.json", OFFERED);
    let arguments = [
        "init",
        "--name",
        "pages",
        "--definitions",
        "offered.json",
        "--dir",
        "here",
        "--",
        "npx",
        "pages",
    ];
    let said = folder.run(&arguments, "", &[]);
    insta::assert_snapshot!(said.whole());
    for client in [
        "claude_desktop_config.json",
        "mcp.json",
        "vscode-mcp.json",
        "cursor-mcp.json",
    ] {
        let text = folder.read(&format!("here/clients/{client}"));
        assert!(
            serde_json::from_str::<serde_json::Value>(&text).is_ok(),
            "{text}"
        );
        assert!(text.contains("/here/policy.yaml"), "{text}");
    }
    // What it wrote is a policy, and everything in it is pinned.
    let said = folder.run(&["lint", "--policy", "here/policy.yaml"], "", &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = folder.run(
        &[
            "pin",
            "--policy",
            "here/policy.yaml",
            "--definitions",
            "offered.json",
        ],
        "",
        &[],
    );
    assert_eq!(said.code, 0, "{said:?}");
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_page","arguments":{"path":"a"}}}"#;
    let said = folder.run(&["decide", "--policy", "here/policy.yaml"], message, &[]);
    assert_eq!(said.code, 0, "{said:?}");

    folder.write("here/policy.yaml", "mine");
    std::fs::remove_file(folder.path("here/clients/mcp.json")).unwrap();
    let said = folder.run(&arguments, "", &[]);
    assert_eq!(said.code, 1);
    assert_eq!(folder.read("here/policy.yaml"), "mine");
    assert!(folder.path("here/clients/mcp.json").exists());
}

#[test]
fn a_server_is_started_and_asked_page_by_page() {
    let folder = Folder::new();
    folder.write("server.sh", SERVER);
    let env = [
        (
            "FIRST",
            r#"{"name":"read_page","inputSchema":{"type":"object"}}"#,
        ),
        (
            "SECOND",
            r#"{"name":"list_pages","inputSchema":{"type":"object"}}"#,
        ),
    ];
    // The server's environment holds nothing that the policy does not give it.
    let said = folder.run(&["init", "--", "sh", "server.sh"], "", &env);
    assert!(said.out.contains("# Nothing was written"), "{said:?}");
    assert!(!said.out.contains("read_page"), "{said:?}");
    let given = env.map(|(name, value)| format!("{name}={value}"));
    let said = folder.run(
        &[
            "init",
            "--client",
            "cursor",
            "--",
            "env",
            &given[0],
            &given[1],
            "sh",
            "server.sh",
        ],
        "",
        &[],
    );
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.starts_with("Starting: env FIRST="), "{said:?}");
    assert!(
        said.out.contains("  read_page:\n    schema_sha256:"),
        "{said:?}"
    );
    assert!(
        said.out.contains("  list_pages:\n    schema_sha256:"),
        "{said:?}"
    );
}

#[test]
fn a_start_that_fails_says_what_to_do() {
    let folder = Folder::new();
    for (arguments, words) in [
        (
            &["init", "--", "/absent/server"][..],
            "start /absent/server",
        ),
        (&["init", "--", "true"], "the server"),
        (&["init", "--", "echo", "hello"], "what the server wrote"),
        (&["init", "--client", "pine"], "these are: claude-desktop"),
        (&["init", "--name", "a b"], "a name is letters"),
        (&["init", "--url", "ftp://a/"], "http://HOST:PORT/PATH"),
        (&["init", "--definitions", "absent.json"], "absent.json"),
    ] {
        let said = folder.run(arguments, "", &[]);
        assert_eq!(said.code, 1, "{arguments:?}");
        assert!(said.err.contains(words), "{arguments:?} {said:?}");
    }
    let said = folder.run(&["init", "--offline", "--", "/absent/server"], "", &[]);
    assert_eq!(said.code, 0);
    let said = folder.run(&["init", "--client", "zed"], "", &[]);
    insta::assert_snapshot!(said.whole());
}
