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
};
/** Ends a check with a code. */
export class Refused extends Error {
    code;
    constructor(code, what) {
        super(what);
        this.code = code;
    }
}
/** Runs a check; whatever it cannot judge is refused. */
export async function judged(check) {
    try {
        return await check();
    }
    catch (error) {
        if (error instanceof Refused)
            return { code: error.code, what: error.message };
        throw error;
    }
}
