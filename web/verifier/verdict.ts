// What a check comes to: the exit codes of `countersign-verify`, so that page and command can be compared.

/** Exit codes of the command that this page has, too. */
export const Code = {
  Holds: 0,
  Signature: 1,
  Key: 2,
  Malformed: 3,
  Hash: 4,
  Policy: 9,
  ChainBreak: 11,
  Truncated: 12,
  Fork: 13,
} as const;

export type Code = (typeof Code)[keyof typeof Code];

/** What came out, in words. */
export interface Verdict {
  code: Code;
  what: string;
  /** The payload of a receipt that holds, as it was signed. */
  payload?: string;
}

/** Ends a check with a code. */
export class Refused extends Error {
  readonly code: Code;

  constructor(code: Code, what: string) {
    super(what);
    this.code = code;
  }
}

/** Runs a check; whatever it cannot judge is refused. */
export async function judged(check: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof Refused) return { code: error.code, what: error.message };
    throw error;
  }
}
