// A throw-away bank for one test file: the real programs, a database of their own, ports of their own.
// `cargo xtask test` names the program that starts it; by hand: COUNTERSIGN_XTASK=../../target/debug/countersign-xtask.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const STARTS_IN_MS = 120_000;

/** `provider` is the issuer of an identity provider; without one people sign in by the demo's addresses. */
export async function startBank({ provider } = {}) {
  const program = process.env.COUNTERSIGN_XTASK;
  if (!program) throw new Error("COUNTERSIGN_XTASK names no program; run `cargo xtask test --only browser`");
  const child = spawn(program, ["bank", ...(provider ? ["--provider", provider] : [])], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let next = 1;
  let ready;
  const started = new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the bank did not start in time")), STARTS_IN_MS);
    ready = (origins) => (clearTimeout(late), resolve(origins));
    child.once("exit", (code) => {
      clearTimeout(late);
      const gone = new Error(`the bank ended (${code})`);
      reject(gone);
      for (const { reject } of waiting.values()) reject(gone);
    });
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line);
    if (answer.ready) return ready(answer.ready);
    const { resolve, reject } = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("error" in answer) reject(new Error(answer.error));
    else resolve(answer.ok);
  });
  const ask = (what) =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ id, ...what })}\n`);
    });

  const origins = await started;
  return {
    /** `panel`, `chat`, `door`, `bank_mcp`, `agent`, `dashboard`: origins such as http://localhost:41234. */
    origins,
    /** A one-use address that signs a customer in. */
    open: (name) => ask({ do: "open", as: name }),
    /** A one-use address that signs an operator in at the dashboard. */
    operate: (name) => ask({ do: "operate", as: name }),
    /** A session token for the door, good for two minutes. */
    token: (name) => ask({ do: "token", as: name }),
    /** Ends a process as a crash would, and waits until it is back. */
    crash: (service) => ask({ do: "crash", service }),
    /** Everything a process has logged. */
    log: (service) => ask({ do: "log", service }),
    /** Moves the bank's clock ahead of the system's, by seconds. */
    clock: (seconds) => ask({ do: "clock", seconds }),
    /** Rows as the superuser sees them: what really stands in the tables. */
    query: (sql) => ask({ do: "query", sql }),
    /** Statements as the superuser: what an outsider would have written. */
    plant: (sql) => ask({ do: "plant", sql }),
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      await ended;
    },
  };
}
