/**
 * Gives the code with which the gate said no, or undefined when something broke instead.
 * @param {unknown} err
 * @returns {string | undefined}
 */
export function refused(err: unknown): string | undefined;
/**
 * Reports whether asking again may help: no answer, 429, or 5xx.
 * @param {unknown} err
 */
export function passing(err: unknown): boolean;
/** @typedef {import("holdpoint-client/api").components["schemas"]} Schemas */
/** An error that Holdpoint answered (RFC 9457). A refusal of the gate has status 409. */
export class Problem extends Error {
    /**
     * @param {number} status
     * @param {Partial<Schemas["Problem"]>} answer
     */
    constructor(status: number, answer: Partial<Schemas["Problem"]>);
    status: number;
    /** The stable name: a refusal's code, or not_found, unauthorized, scope, invalid, … */
    code: string;
    detail: string | undefined;
    /** A refusal in one sentence: why not, who can, what helps. */
    reason: string | undefined;
    operation: string | undefined;
    state: "draft" | "pending_approval" | "waiting" | "ready" | "in_progress" | "retry_scheduled" | "unknown" | "review" | "reexecution_requested" | "confirmed" | "rejected" | "cancelled" | "not_executed" | undefined;
    nextDecision: {
        kind: string;
        responsible: import("holdpoint-client/api").components["schemas"]["Responsible"];
        at?: string;
    } | undefined;
    responsible: {
        user?: string;
        role?: string;
        system?: boolean;
    } | undefined;
    link: string | undefined;
    /** With code rows: the first rows of a list that cannot go out, and how many there are. */
    rows: {
        row: number;
        key?: string;
        problems: import("holdpoint-client/api").components["schemas"]["ItemProblem"][];
    }[] | undefined;
    rowsTotal: number | undefined;
    /** Of a list of entries that is refused: the place of the first wrong one, from 1, and what of it is wrong. */
    entry: number | undefined;
    field: string | undefined;
}
export type Schemas = import("holdpoint-client/api").components["schemas"];
