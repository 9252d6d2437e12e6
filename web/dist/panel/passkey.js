// Asking a passkey: what the bank sends is the JSON form of the specification, what a browser takes and gives are bytes.
/** Bytes as the specification writes them in JSON. */
export function toText(bytes) {
    let binary = "";
    for (const byte of new Uint8Array(bytes))
        binary += String.fromCharCode(byte);
    return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
/** The bytes of such a text. */
export function toBytes(text) {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
/** The bytes of such a text in hexadecimal, as the bank's own fields are. */
export function toHex(text) {
    return Array.from(toBytes(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
/** Whether this browser knows passkeys. */
export function hasPasskeys() {
    return typeof PublicKeyCredential === "function" && typeof navigator.credentials?.get === "function";
}
/** Asks one of the customer's passkeys. Where the browser can display the payment itself, it does. */
export async function askPasskey(options, payment) {
    if (!hasPasskeys())
        return { kind: "unsupported" };
    if (payment !== null && (await displaysPayments())) {
        const shown = await askByPayment(options, payment);
        if (shown.kind !== "unsupported")
            return shown;
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
export async function makePasskey(options) {
    if (!hasPasskeys())
        return { kind: "unsupported" };
    // The type of the extensions does not know this one yet.
    const extensions = ((await displaysPayments()) ? { payment: { isPayment: true } } : {});
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
        if (!(credential instanceof PublicKeyCredential))
            return null;
        const response = credential.response;
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
function assertion(credential) {
    if (!(credential instanceof PublicKeyCredential))
        return null;
    const response = credential.response;
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
async function asked(ask) {
    try {
        const answer = await ask();
        return answer === null ? { kind: "declined" } : { kind: "answered", answer };
    }
    catch {
        return { kind: "declined" };
    }
}
// Secure Payment Confirmation: the browser itself shows payee and amount, and what it showed is signed.
const METHOD = "secure-payment-confirmation";
/** A picture is wanted; the name beside it is what counts. */
const ICON = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
async function displaysPayments() {
    const request = globalThis.PaymentRequest;
    try {
        return (await request?.securePaymentConfirmationAvailability?.()) === "available";
    }
    catch {
        return false;
    }
}
async function askByPayment(options, payment) {
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
        const answer = assertion(response.details);
        return answer === null ? { kind: "unsupported" } : { kind: "answered", answer };
    }
    catch (error) {
        // Only a person's "no" is an answer; whatever else stands in the way, the ordinary prompt is asked.
        const declined = error instanceof DOMException && (error.name === "AbortError" || error.name === "NotAllowedError");
        return { kind: declined ? "declined" : "unsupported" };
    }
}
