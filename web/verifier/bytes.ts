// Bytes, their spellings, and the one hash.

/** Standard base64 with padding and no spare bits; null for any other text. */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  let decoded: string;
  try {
    decoded = atob(text);
  } catch {
    return null;
  }
  // One value has one spelling.
  if (btoa(decoded) !== text) return null;
  return Uint8Array.from(decoded, (character) => character.charCodeAt(0));
}

/** 32 bytes from base64. */
export function hashFromBase64(text: string): Uint8Array | null {
  const bytes = fromBase64(text);
  return bytes?.length === 32 ? bytes : null;
}

/** Lower-case hexadecimal. */
export function hexadecimal(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

export function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A text's bytes. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** A text from bytes; null when they are none. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export async function sha256(...parts: Uint8Array[]): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));
}
