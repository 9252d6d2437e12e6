// Puts the verifier into one file that works from a disk: its modules joined in the order in which they need each other, its
// style, and a policy that allows exactly these two texts and no network.
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const web = import.meta.dirname;
const folder = join(web, "dist", "verifier");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** A module's text without the lines that name other modules, after those it needs. */
async function joined(file, done) {
  if (done.has(file)) return "";
  done.add(file);
  const text = await readFile(join(folder, file), "utf8");
  const needs = [...text.matchAll(/^import .* from "\.\/(.*)";$/gm)].map((found) => found[1]);
  let before = "";
  for (const need of needs) before += await joined(need, done);
  const own = text.replace(/^import .*\n/gm, "").replace(/^export /gm, "");
  if (/^(?:import|export)\b/m.test(own)) throw new Error(`${file} names a module in a way that cannot be joined`);
  return `${before}\n${own}`;
}

const modules = new Set();
const script = await joined("page.js", modules);
if (script.includes("</script")) throw new Error("the script would end its own element");
const style = (await readFile(join(web, "tokens.css"), "utf8")) + (await readFile(join(folder, "verifier.css"), "utf8"));
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
const page = await readFile(join(folder, "verifier.html"), "utf8");
const parts = { policy, style, script };
await writeFile(
  join(folder, "verifier.html"),
  page.replace(/\{\{(policy|style|script)\}\}/g, (_, name) => parts[name]),
);
// The modules stay for the tests; the style is in the page.
await rm(join(folder, "verifier.css"));
