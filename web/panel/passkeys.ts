// The page of the customer's passkeys: a new one, another name, one fewer, the way back in. Every change is the bank's to allow;
// the page is drawn again after each.

import { post, type Answer } from "./api.js";
import { make, required } from "./dom.js";
import { askPasskey, makePasskey, toHex, type CreationOptions, type RequestOptions } from "./passkey.js";
import { t } from "./texts.js";

const DECLINED = t("Your device did not agree. Nothing was changed.");
const UNSUPPORTED = t("This browser knows no passkeys. Use another one.");

/** Starts the page, where it is the page. */
export function startPasskeys(): void {
  const list = document.getElementById("passkeys");
  if (list === null) return;
  const form = document.getElementById("new-passkey");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = required("passkey-name") as HTMLInputElement;
    void whileBusy(() => setUp(name.value));
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-act]") : null;
    const line = button?.closest("[data-passkey]");
    const id = line instanceof HTMLElement ? (line.dataset["passkey"] ?? "") : "";
    if (!(button instanceof HTMLElement)) return;
    switch (button.dataset["act"]) {
      case "rename":
        askName(line as HTMLElement, id);
        break;
      case "remove":
        void whileBusy(() => remove(id));
        break;
      case "ask-recovery":
        void whileBusy(async () => show(await post("/api/recovery/ask", {})));
        break;
      case "cancel-recovery":
        void whileBusy(async () => show(await post("/api/recovery/cancel", {})));
        break;
    }
  });
}

let busy = false;

/** One change at a time: a second press while the device asks is none. */
async function whileBusy(change: () => Promise<void>): Promise<void> {
  if (busy) return;
  busy = true;
  try {
    await change();
  } finally {
    busy = false;
  }
}

/** Says why nothing happened, or draws the page as it is now. */
function show(answer: Answer<unknown>): void {
  if (answer.kind === "ok") {
    window.location.reload();
  } else {
    say(answer.kind === "lost" ? t("We could not reach the bank. Look again whether it was changed.") : answer.refusal.detail);
  }
}

function say(text: string): void {
  const status = required("page-status");
  status.hidden = false;
  status.textContent = text;
}

/** The leave of a passkey that is there. Nothing when it was not given; then the page has said so. */
async function leaveFor(options: RequestOptions): Promise<{ challenge: string; answer: object } | null> {
  const asked = await askPasskey(options, null);
  if (asked.kind !== "answered") {
    say(asked.kind === "declined" ? DECLINED : UNSUPPORTED);
    return null;
  }
  return { challenge: toHex(options.challenge), answer: asked.answer };
}

async function setUp(name: string): Promise<void> {
  const begun = await post<{ creation: CreationOptions; leave: RequestOptions | null }>("/api/passkeys/enrol", {});
  if (begun.kind !== "ok") {
    show(begun);
    return;
  }
  const { creation, leave } = begun.value;
  const given = leave === null ? null : await leaveFor(leave);
  if (leave !== null && given === null) return;
  const made = await makePasskey(creation);
  if (made.kind !== "answered") {
    say(made.kind === "declined" ? DECLINED : UNSUPPORTED);
    return;
  }
  const passkey = { challenge: toHex(creation.challenge), answer: made.answer };
  const answer = await post("/api/passkeys", { name, passkey, leave: given });
  // Whoever came from a card goes back to it.
  if (answer.kind === "ok" && window.location.hash === "#for-card") window.location.assign("/");
  else show(answer);
}

async function remove(id: string): Promise<void> {
  const begun = await post<{ leave: RequestOptions }>("/api/passkeys/change", {});
  if (begun.kind !== "ok") {
    show(begun);
    return;
  }
  const leave = await leaveFor(begun.value.leave);
  if (leave !== null) show(await post(`/api/passkeys/${id}/remove`, { leave }));
}

/** A field in place of the line's buttons. */
function askName(line: HTMLElement, id: string): void {
  if (line.querySelector("form") !== null) return;
  const field = `name-${id}`;
  const input = make("input", { id: field, attributes: { maxlength: "60", autocomplete: "off", dir: "auto", required: "" } });
  input.value = line.querySelector(".what")?.textContent ?? "";
  const form = make(
    "form",
    {
      class: "field",
      on: {
        submit: (event) => {
          event.preventDefault();
          void whileBusy(async () => show(await post(`/api/passkeys/${id}/rename`, { name: input.value })));
        },
      },
    },
    [
      make("label", { text: t("New name"), attributes: { for: field } }),
      input,
      make("p", {}, [make("button", { class: "button", text: t("Save"), attributes: { type: "submit" } })]),
    ],
  );
  line.append(form);
  input.focus();
}
