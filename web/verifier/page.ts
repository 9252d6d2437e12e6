// The page: files in, a verdict out. Nothing leaves it; its policy lets it reach no network at all.

import { fromUtf8 } from "./bytes.js";
import { knowsEd25519 } from "./keys.js";
import { verifyLog } from "./log.js";
import { verifyProof, verifyReceipt } from "./receipt.js";
import { Code, Refused, type Verdict, judged } from "./verdict.js";

const HEADINGS: Record<Code, string> = {
  [Code.Holds]: "It holds",
  [Code.Signature]: "Refused: the signature does not hold",
  [Code.Key]: "Refused: not signed by this key",
  [Code.Malformed]: "Refused: not of the form",
  [Code.Hash]: "Refused: not what was hashed",
  [Code.Policy]: "Refused: another policy",
  [Code.ChainBreak]: "Refused: the chain is broken",
  [Code.Truncated]: "Refused: the end was cut off",
  [Code.Fork]: "Refused: another past than the one signed for",
};

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

/** The bytes of the files that were chosen, by name, so that a record's files come in their order. */
async function chosen(id: string): Promise<Uint8Array[]> {
  const files = [...(element(id, HTMLInputElement).files ?? [])];
  // The file that is being written comes last: its name has no number.
  const rank = (file: File) => (/-[0-9]+\.jsonl$/.test(file.name) ? 0 : 1);
  const place = (file: File) => Number(/-([0-9]+)\.jsonl$/.exec(file.name)?.[1] ?? 0);
  files.sort((a, b) => rank(a) - rank(b) || place(a) - place(b));
  return Promise.all(files.map(async (file) => new Uint8Array(await file.arrayBuffer())));
}

async function texts(id: string): Promise<string[]> {
  return (await chosen(id)).map((bytes) => {
    const text = fromUtf8(bytes);
    if (text === null) throw new Refused(Code.Malformed, "a file is not text in UTF-8");
    return text;
  });
}

async function text(id: string, what: string): Promise<string> {
  const [first] = await texts(id);
  if (first === undefined) throw new Refused(Code.Malformed, `choose ${what}`);
  return first;
}

async function check(kind: string): Promise<Verdict> {
  const keys = await text("keys", "the public key");
  const policies = await texts("policy");
  switch (kind) {
    case "log": {
      const files = await chosen("lines");
      if (files.length === 0) throw new Refused(Code.Malformed, "choose the log");
      return verifyLog(files, await text("checkpoint", "the signed head"), keys, policies);
    }
    case "proof": {
      const payload = await text("payload", "the payload");
      return verifyProof(payload, await text("proof", "the proof"), keys, policies);
    }
    default:
      return verifyReceipt(await text("receipt", "the receipt"), keys, policies);
  }
}

/** A payload's text with nothing in it that hides or turns. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function show(verdict: Verdict): void {
  const box = element("verdict", HTMLElement);
  box.dataset["code"] = String(verdict.code);
  const heading = document.createElement("h2");
  heading.textContent = HEADINGS[verdict.code];
  const what = document.createElement("p");
  what.textContent = `${visible(verdict.what)} (code ${verdict.code})`;
  box.replaceChildren(heading, what);
  if (verdict.payload !== undefined) {
    const payload = document.createElement("pre");
    payload.textContent = visible(JSON.stringify(JSON.parse(verdict.payload), null, 2)).replaceAll("\\u{a}", "\n");
    box.append(payload);
  }
}

function kind(): string {
  const picked = document.querySelector<HTMLInputElement>("input[name=kind]:checked");
  return picked?.value ?? "receipt";
}

function showFields(): void {
  for (const field of document.querySelectorAll<HTMLElement>("[data-of]")) {
    field.hidden = field.dataset["of"] !== kind();
  }
}

/** A verdict stands only beside the files that it is about. */
function clear(): void {
  const box = element("verdict", HTMLElement);
  delete box.dataset["code"];
  box.replaceChildren();
}

async function begin(): Promise<void> {
  const button = element("check", HTMLButtonElement);
  const form = element("form", HTMLFormElement);
  form.addEventListener("change", () => {
    showFields();
    clear();
  });
  showFields();
  if (!(await knowsEd25519())) {
    element("unable", HTMLElement).hidden = false;
    return;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clear();
    button.disabled = true;
    void judged(() => check(kind()))
      .then(show)
      .finally(() => {
        button.disabled = false;
      });
  });
  button.disabled = false;
}

void begin();
