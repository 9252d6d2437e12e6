//! Clients that start MCP servers, and the form in which they want to be told.

use std::path::Path;

use serde_json::json;

/// A client.
#[derive(Debug)]
pub struct Client {
    /// Its name on the command line.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The name of the file that is written for it.
    pub file: &'static str,
    /// Where it looks for its configuration.
    pub place: &'static str,
    form: Form,
}

/// The form of a configuration.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// `{"mcpServers": {NAME: {"command", "args"}}}`.
    McpServers,
    /// `{"servers": {NAME: {"type": "stdio", "command", "args"}}}`.
    Servers,
    /// `{"context_servers": {NAME: {"source": "custom", "command", "args"}}}`.
    ContextServers,
    /// `[mcp_servers.NAME]` in TOML.
    Toml,
}

/// The clients that are known here.
pub const CLIENTS: [Client; 8] = [
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        file: "claude_desktop_config.json",
        place: "Settings > Developer > Edit Config (claude_desktop_config.json)",
        form: Form::McpServers,
    },
    Client {
        name: "claude-code",
        title: "Claude Code",
        file: "mcp.json",
        place: ".mcp.json in the project",
        form: Form::McpServers,
    },
    Client {
        name: "vscode",
        title: "Visual Studio Code",
        file: "vscode-mcp.json",
        place: ".vscode/mcp.json in the project",
        form: Form::Servers,
    },
    Client {
        name: "cursor",
        title: "Cursor",
        file: "cursor-mcp.json",
        place: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
        form: Form::McpServers,
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        file: "windsurf-mcp_config.json",
        place: "~/.codeium/windsurf/mcp_config.json",
        form: Form::McpServers,
    },
    Client {
        name: "zed",
        title: "Zed",
        file: "zed-settings.json",
        place: "its settings.json",
        form: Form::ContextServers,
    },
    Client {
        name: "gemini-cli",
        title: "Gemini CLI",
        file: "gemini-settings.json",
        place: ".gemini/settings.json in the project, or ~/.gemini/settings.json",
        form: Form::McpServers,
    },
    Client {
        name: "codex",
        title: "Codex CLI",
        file: "codex-config.toml",
        place: "~/.codex/config.toml",
        form: Form::Toml,
    },
];

impl Client {
    /// Its configuration: it starts the door, and the door starts the server.
    pub fn configuration(&self, name: &str, door: &Path, policy: &Path) -> String {
        let command = door.to_string_lossy();
        let policy = policy.to_string_lossy();
        let args = json!(["run", "--policy", policy]);
        let plain = json!({ "command": command, "args": args });
        let whole = match self.form {
            Form::McpServers => json!({ "mcpServers": { name: plain } }),
            Form::Servers => json!({
                "servers": { name: { "type": "stdio", "command": command, "args": args } }
            }),
            Form::ContextServers => json!({
                "context_servers": { name: { "source": "custom", "command": command, "args": args } }
            }),
            // Strings and arrays of strings are written the same way in both.
            Form::Toml => {
                let command = json!(command);
                return format!("[mcp_servers.{name}]\ncommand = {command}\nargs = {args}\n");
            }
        };
        format!("{whole:#}\n")
    }
}
