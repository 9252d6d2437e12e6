// Copies what needs no compiler (tokens.css and each page's HTML and CSS) beside the compiled scripts in dist/.
// dist/ is committed and embedded by the services, so the copy is byte for byte and in a fixed order.
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const web = import.meta.dirname;
await mkdir(join(web, "dist"), { recursive: true });
await copyFile(join(web, "tokens.css"), join(web, "dist", "tokens.css"));
for (const page of ["approvals", "chat", "dashboard", "panel", "verifier"]) {
  const from = join(web, page);
  const to = join(web, "dist", page);
  await mkdir(to, { recursive: true });
  const sources = (await readdir(from)).sort();
  for (const file of sources) {
    if (/\.(css|html|svg)$/.test(file)) await copyFile(join(from, file), join(to, file));
  }
  // What no source stands for any more is not served any more.
  const wanted = new Set(sources.map((file) => file.replace(/\.ts$/, ".js")));
  for (const file of await readdir(to)) {
    if (!wanted.has(file)) await rm(join(to, file));
  }
}
