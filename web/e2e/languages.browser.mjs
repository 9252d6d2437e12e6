// The panel in German and in Arabic: what is seen and heard, that the page runs from right to left, and that names and
// amounts keep their own direction.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { assertAccessible } from "./axe.mjs";
import { startBank } from "./bank.mjs";
import { launchBrowser } from "./browser.mjs";
import { cardOf, LOOK_MS, picture } from "./cards.mjs";
import { requestsOf } from "./requests.mjs";

const PLACES = ["/accounts", "/activity", "/receipts", "/limits", "/passkeys", "/notices", "/safety", "/not-me", "/"];

let bank;
let browser;
let requests;

before(async () => {
  [bank, browser] = await Promise.all([startBank(), launchBrowser()]);
  requests = requestsOf(bank);
});
after(async () => {
  await browser?.close();
  await bank?.stop();
});
beforeEach(() => requests.clear());

async function signIn(language, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, ...options });
  const page = await context.newPage();
  await page.goto(await bank.open("ada"));
  await page.locator("#waiting-count").waitFor();
  await page.getByRole("button", { name: language }).click();
  await page.locator("#waiting-count").waitFor();
  return { context, page };
}

const toBob = () => requests.toBob(20);

for (const [language, lang, dir, button] of [
  ["English", "en", "ltr", "Send 20.00 EUR to Bob Smith"],
  ["Deutsch", "de", "ltr", "20,00 EUR an Bob Smith senden"],
  ["العربية", "ar", "rtl", "إرسال 20.00 EUR إلى Bob Smith"],
]) {
  test(`${lang}: the whole way from the card to the receipt`, async () => {
    const { page, context } = await signIn(language);
    assert.equal(await page.locator("html").getAttribute("dir"), dir);
    const request = await toBob();
    const confirm = page.locator(`${request.selector} .confirm`);
    await confirm.waitFor();
    assert.equal((await confirm.innerText()).trim(), button);
    const careful = await requests.transfer("Send 21 to Bright Solar", { payee: "Bright Solar", amount: 2_100 });
    await cardOf(page, careful);
    const isolated = await page.evaluate(
      (selector) => [...document.querySelectorAll(`${selector} .confirm bdi`)].map((element) => element.textContent),
      request.selector,
    );
    assert.deepEqual(isolated.length, 2, "the amount and the name stand by themselves");
    await picture(page, `language-${lang}`);
    await assertAccessible(page, lang);
    await page.waitForTimeout(LOOK_MS);
    await confirm.click();
    await page.locator(`${request.selector}[data-state="confirmed"]`).waitFor();
    await page.locator(`${request.selector} a[href^="/receipts/"]`).click();
    await page.locator("main").waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), lang);
    await assertAccessible(page, `${lang}: a receipt`);
    await picture(page, `language-${lang}-receipt`);
    await context.close();
  });

  test(`${lang}: every place at 320 pixels`, async () => {
    const { page, context } = await signIn(language, { viewport: { width: 320, height: 640 } });
    const request = await toBob();
    for (const path of PLACES) {
      await page.goto(bank.origins.panel + path);
      await page.locator("main").waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 320, `${path} is ${width} wide`);
      // What hides its overflow makes no page wider, and would cut an amount in silence.
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll(".facts dd, .amount, .button")]
          .filter((element) => element.scrollWidth > element.clientWidth + 1)
          .map((element) => element.textContent),
      );
      assert.deepEqual(cut, [], `${path} cuts something off`);
      await assertAccessible(page, `${lang} ${path}`);
    }
    await cardOf(page, request);
    await picture(page, `language-${lang}-narrow`);
    await context.close();
  });
}
