// The bank's identity provider, as a test has it: a certified one that none of us wrote, on a port of its own.
import { createServer } from "node:http";

import Provider from "oidc-provider";

/** Listens at once, so that its name is known; `serve` makes it answer once its clients' addresses are known. */
export async function startProvider() {
  let answer = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  return {
    issuer,
    serve(origins) {
      const client = (name) => ({
        client_id: name,
        client_secret: `the secret of ${name}`,
        redirect_uris: [`${origins[name]}/sign-in/back`],
        post_logout_redirect_uris: [],
        backchannel_logout_uri: `${origins[name]}/sign-in/ended`,
        backchannel_logout_session_required: true,
      });
      const provider = new Provider(issuer, {
        clients: [client("panel"), client("dashboard")],
        features: { backchannelLogout: { enabled: true } },
        // It calls nobody on a private address by itself, and here everybody is on this machine.
        fetch: (address, { dispatcher: _, ...options }) => fetch(address, options),
        cookies: { keys: ["a key for the provider's own cookies"] },
      });
      answer = provider.callback();
    },
    stop: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}

/** What a person does on the provider's pages: says who they are, and agrees. */
export async function passThrough(page, login) {
  await page.getByPlaceholder("Enter any login").fill(login);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

/** The same, but the address that the provider sends the browser back to is taken instead of followed. */
export async function answerOf(page, login) {
  await page.getByPlaceholder("Enter any login").fill(login);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).waitFor();
  const { request } = page.context();
  const agreed = await request.post(await page.locator("form").getAttribute("action"), { form: { prompt: "consent" }, maxRedirects: 0 });
  const resumed = await request.get(agreed.headers().location, { maxRedirects: 0 });
  return resumed.headers().location;
}
