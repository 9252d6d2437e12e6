// Copies what needs no compiler (tokens.css and each page's HTML and CSS) beside the compiled scripts in dist/.
// dist/ is committed and embedded by the services, so the copy is byte for byte and in a fixed order.
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

const web = import.meta.dirname;
await mkdir(join(web, "dist"), { recursive: true });
await copyFile(join(web, "tokens.css"), join(web, "dist", "tokens.css"));
for (const page of ["chat", "panel"]) {
  await mkdir(join(web, "dist", page), { recursive: true });
  for (const file of (await readdir(join(web, page))).sort()) {
    if (/\.(css|html|svg)$/.test(file)) await copyFile(join(web, page, file), join(web, "dist", page, file));
  }
}
