//! `lint`: what is looser than it need be.

use super::Folder;

#[test]
fn findings_are_shown_with_their_lines() {
    let folder = Folder::new();
    folder.write(
        "policy.yaml",
        "version: 1\nid: t\ndefault: deny\nmode: observe\nservers:\n  s:\n    url: http://a.example/mcp\n    \
         headers: {Authorization: abc}\ntools:\n  read_it:\n    args:\n      a: {type: string}\n      \
         b: {type: string, max_length: 3, pattern: '^.*$'}\n  delete_it: {}\nrules:\n  \
         - {id: all, tool: '*', effect: require_approval}\n",
    );
    let said = folder.run(&["lint", "--policy", "policy.yaml"], "", &[]);
    insta::assert_snapshot!(said.whole());
    let said = folder.run(&["lint", "--policy", "policy.yaml", "--json"], "", &[]);
    assert_eq!(said.code, 1);
    let json = said.json();
    assert_eq!(json["errors"], 1);
    assert_eq!(json["findings"][0]["line"], 4);
}

#[test]
fn the_exit_code_says_how_bad_it_is() {
    let folder = Folder::new();
    let head = "version: 1\nid: t\ndefault: deny\nservers: {s: {}}\n";
    let pin = "0".repeat(64);
    for (text, plain, strict) in [
        (
            format!("{head}tools: {{read: {{schema_sha256: '{pin}', args: {{}}}}}}\n"),
            0,
            0,
        ),
        (format!("{head}tools: {{read: {{args: {{}}}}}}\n"), 0, 1),
        (format!("{head}tools: {{pay: {{}}}}\n"), 1, 1),
        (format!("{head}tool: {{}}\n"), 2, 2),
        (String::new(), 2, 2),
    ] {
        folder.write("policy.yaml", &text);
        let code = |more: &[&str]| {
            let arguments = [&["lint", "--policy", "policy.yaml"], more].concat();
            folder.run(&arguments, "", &[]).code
        };
        assert_eq!(code(&[]), plain, "{text}");
        assert_eq!(code(&["--strict"]), strict, "{text}");
        assert_eq!(code(&["--json"]), plain, "{text}");
    }
    let said = folder.run(&["lint", "--policy", "absent.yaml"], "", &[]);
    assert_eq!(said.code, 2);
}

#[test]
fn what_is_no_policy_is_shown_with_its_line() {
    let folder = Folder::new();
    let mut shown = String::new();
    for text in [
        "version: 1\nid: t\ndefault: dney\n",
        "version: 1\nid: t\ndefault: deny\nserver: {}\n",
        "version: 1\nid: t\ndefault: deny\nservers: {bank: {}, Bank: {}}\n",
        "version: 1\nid: t\ndefault: deny\ntools: {a: {args: {b: {type: string, enum: [012]}}}}\n",
        "version: 1\nid: t\ndefault: deny\ntools: {a: {cap: {argument: x, per_call: '1'}}}\n",
        "\u{feff}version: 1\nid: t\ndefault: deny\n",
        "",
    ] {
        folder.write("policy.yaml", text);
        let said = folder.run(&["lint", "--policy", "policy.yaml"], "", &[]);
        shown.push_str(&said.whole());
        shown.push('\n');
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_policy_is_compared_with_what_the_server_offers() {
    let folder = Folder::new();
    let pin = "0".repeat(64);
    folder.write(
        "policy.yaml",
        format!(
            "version: 1\nid: t\ndefault: deny\nservers: {{s: {{}}}}\ntools:\n  read:\n    \
             schema_sha256: '{pin}'\n    args:\n      a: {{type: integer}}\n      gone: {{type: boolean}}\n"
        ),
    );
    folder.write(
        "offered.json",
        r##"{"jsonrpc":"2.0","id":1,"result":{"tools":[
            {"name":"read","inputSchema":{"type":"object","required":["a","b"],"properties":{
                "a":{"type":"string"},"b":{"type":"string"},"c":{"anyOf":[{"type":"string"},{"type":"integer"}]},
                "d":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":["string","null"]}}}},
            {"name":"write_it","inputSchema":{"type":"object"}}]}}"##,
    );
    let said = folder.run(
        &[
            "lint",
            "--policy",
            "policy.yaml",
            "--definitions",
            "offered.json",
        ],
        "",
        &[],
    );
    insta::assert_snapshot!(said.whole());
}

#[test]
fn a_policy_needs_no_secrets_to_be_judged() {
    let folder = Folder::new();
    folder.write(
        "policy.yaml",
        "version: 1\nid: t\ndefault: deny\nservers: {s: {url: 'https://a.example/mcp', headers: \
         {Authorization: 'Bearer ${TOKEN}'}}}\n",
    );
    let said = folder.run(&["lint", "--policy", "policy.yaml"], "", &[]);
    assert_eq!(said.code, 0);
    let said = folder.run(&["pin", "--policy", "policy.yaml"], "", &[]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("the environment has no variable TOKEN"),
        "{said:?}"
    );
    let said = folder.run(
        &["pin", "--policy", "policy.yaml"],
        "",
        &[("TOKEN", "hunter2\nx")],
    );
    assert_eq!(said.code, 1);
    assert!(!said.err.contains("hunter2"), "{said:?}");
}
