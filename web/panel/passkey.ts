// Asking a passkey: what the bank sends is the JSON form of the specification, what a browser takes and gives are bytes.

/** The options of a prompt, in the JSON form of the specification. */
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout: number;
  readonly allowCredentials: readonly { readonly type: "public-key"; readonly id: string }[];
  readonly userVerification: UserVerificationRequirement;
}

/** The options of a new passkey, in the JSON form of the specification. */
export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly pubKeyCredParams: readonly { readonly type: "public-key"; readonly alg: number }[];
  readonly timeout: number;
  readonly excludeCredentials: readonly { readonly type: "public-key"; readonly id: string }[];
  readonly authenticatorSelection: { readonly residentKey: ResidentKeyRequirement; readonly userVerification: UserVerificationRequirement };
}

/** The payment that a browser can display by itself. */
export interface Payment {
  readonly payeeName: string;
  readonly instrument: string;
  readonly total: { readonly value: string; readonly currency: string };
}

/** What a passkey or a browser answered, ready for the bank; or why there is nothing. */
export type Asked = { readonly kind: "answered"; readonly answer: object } | { readonly kind: "declined" } | { readonly kind: "unsupported" };

/** Bytes as the specification writes them in JSON. */
export function toText(bytes: ArrayBuffer): string {
  let binary = "";
  for (const byte of new Uint8Array(bytes)) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes of such a text. */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** The bytes of such a text in hexadecimal, as the bank's own fields are. */
export function toHex(text: string): string {
  return Array.from(toBytes(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether this browser knows passkeys. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && typeof navigator.credentials?.get === "function";
}

/** Asks one of the customer's passkeys. Where the browser can display the payment itself, it does. */
export async function askPasskey(options: RequestOptions, payment: Payment | null): Promise<Asked> {
  if (!hasPasskeys()) return { kind: "unsupported" };
  if (payment !== null && (await displaysPayments())) {
    const shown = await askByPayment(options, payment);
    if (shown.kind !== "unsupported") return shown;
  }
  return asked(async () => {
    const credential = await navigator.credentials.get({
      publicKey: {
        challenge: toBytes(options.challenge),
        rpId: options.rpId,
        timeout: options.timeout,
        userVerification: options.userVerification,
        allowCredentials: options.allowCredentials.map(({ type, id }) => ({ type, id: toBytes(id) })),
      },
    });
    return assertion(credential);
  });
}

/** Makes a new passkey. */
export async function makePasskey(options: CreationOptions): Promise<Asked> {
  if (!hasPasskeys()) return { kind: "unsupported" };
  // The type of the extensions does not know this one yet.
  const extensions = ((await displaysPayments()) ? { payment: { isPayment: true } } : {}) as AuthenticationExtensionsClientInputs;
  return asked(async () => {
    const credential = await navigator.credentials.create({
      publicKey: {
        rp: options.rp,
        user: { ...options.user, id: toBytes(options.user.id) },
        challenge: toBytes(options.challenge),
        pubKeyCredParams: [...options.pubKeyCredParams],
        timeout: options.timeout,
        excludeCredentials: options.excludeCredentials.map(({ type, id }) => ({ type, id: toBytes(id) })),
        authenticatorSelection: options.authenticatorSelection,
        attestation: "none",
        extensions,
      },
    });
    if (!(credential instanceof PublicKeyCredential)) return null;
    const response = credential.response as AuthenticatorAttestationResponse;
    return {
      id: credential.id,
      rawId: toText(credential.rawId),
      type: credential.type,
      response: {
        clientDataJSON: toText(response.clientDataJSON),
        attestationObject: toText(response.attestationObject),
      },
    };
  });
}

function assertion(credential: Credential | null): object | null {
  if (!(credential instanceof PublicKeyCredential)) return null;
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    id: credential.id,
    rawId: toText(credential.rawId),
    type: credential.type,
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      ...(response.userHandle === null ? {} : { userHandle: toText(response.userHandle) }),
    },
  };
}

/** Turned away, run out, or nobody verified: browsers tell these apart on purpose only to the person in front of them. */
async function asked(ask: () => Promise<object | null>): Promise<Asked> {
  try {
    const answer = await ask();
    return answer === null ? { kind: "declined" } : { kind: "answered", answer };
  } catch {
    return { kind: "declined" };
  }
}

// Secure Payment Confirmation: the browser itself shows payee and amount, and what it showed is signed.

const METHOD = "secure-payment-confirmation";
/** A picture is wanted; the name beside it is what counts. */
const ICON = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function displaysPayments(): Promise<boolean> {
  const request = (globalThis as { PaymentRequest?: { securePaymentConfirmationAvailability?: () => Promise<string> } }).PaymentRequest;
  try {
    return (await request?.securePaymentConfirmationAvailability?.()) === "available";
  } catch {
    return false;
  }
}

async function askByPayment(options: RequestOptions, payment: Payment): Promise<Asked> {
  const data = {
    credentialIds: options.allowCredentials.map(({ id }) => toBytes(id)),
    challenge: toBytes(options.challenge),
    rpId: options.rpId,
    payeeName: payment.payeeName,
    instrument: { displayName: payment.instrument, icon: ICON, iconMustBeShown: false },
    timeout: options.timeout,
  };
  try {
    const request = new PaymentRequest([{ supportedMethods: METHOD, data }], {
      total: { label: payment.payeeName, amount: payment.total },
    });
    const response = await request.show();
    await response.complete("success");
    const answer = assertion(response.details as Credential);
    return answer === null ? { kind: "unsupported" } : { kind: "answered", answer };
  } catch (error) {
    // Only a person's "no" is an answer; whatever else stands in the way, the ordinary prompt is asked.
    const declined = error instanceof DOMException && (error.name === "AbortError" || error.name === "NotAllowedError");
    return { kind: declined ? "declined" : "unsupported" };
  }
}
