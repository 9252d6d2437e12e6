// Cards as they stand on the panel's page.

/** A card counts as looked at after a second. */
export const LOOK_MS = 1_150;

/** The card of a request once it stands on the page. */
export async function cardOf(page, request) {
  const card = page.locator(request.selector);
  await card.waitFor();
  return card;
}

/** Waits until the request's card is in that state. */
export const inState = (page, request, state) =>
  page.locator(`${request.selector}[data-state="${state}"]`).waitFor({ timeout: 10_000 });

/** Pictures for somebody to look at, where a folder is named for them. */
export async function picture(page, name) {
  const folder = process.env.COUNTERSIGN_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
