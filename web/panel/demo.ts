// The demo's customer picker in the header. It exists only where the server drew it.

import { post } from "./api.js";
import { required } from "./dom.js";
import { t } from "./texts.js";

/** Signs in as another customer of the demo when one is picked. */
export function startDemoSwitch(): void {
  const picker = document.getElementById("demo-customer");
  if (!(picker instanceof HTMLSelectElement)) return;
  picker.addEventListener("change", () => void switchTo(picker.value));
}

async function switchTo(customer: string): Promise<void> {
  const answer = await post<unknown>("/demo/switch", { customer });
  if (answer.kind === "ok") {
    window.location.assign("/");
    return;
  }
  const status = required("page-status");
  status.hidden = false;
  status.textContent = t("The demo could not switch to that customer.");
}
