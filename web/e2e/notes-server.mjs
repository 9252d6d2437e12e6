// A small MCP server over pipes for the approval page's tests. Every call it gets goes into a file, one line each.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const calls = process.argv[2];
const text = { type: "string" };
const tools = [
  { name: "keep_note", description: "Keeps a note", inputSchema: { type: "object", properties: { title: text, text } } },
  { name: "read_note", description: "Reads a note", inputSchema: { type: "object", properties: { title: text } } },
];

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `${name} done` }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "tools/call") appendFileSync(calls, `${line}\n`);
  const result = results[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
});
