/** @typedef {import("holdpoint-client/api").components["schemas"]} Schemas */
/** @typedef {import("./client.js").Client} Client */
/** @typedef {import("./client.js").Report} Report */
/** @typedef {import("./permit.js").Permit} Permit */
/**
 * Sends permit.request once and says what became of it. Its signal ends when nothing may
 * be sent any more. An act that throws counts as unknown.
 * @typedef {(permit: Permit, signal: AbortSignal) => Promise<Report>} Act
 */
/**
 * Dispatches a claim, lets act send, and reports; the lease is kept meanwhile. A refusal
 * of the dispatch is thrown: nothing was sent then, and nothing needs to be reported.
 * @param {Client} client
 * @param {Schemas["Claim"]} claim
 * @param {Act} act
 * @returns {Promise<Schemas["Recorded"]>}
 */
export function carry(client: Client, claim: Schemas["Claim"], act: Act): Promise<Schemas["Recorded"]>;
/** Runs the loop permit – dispatch – act – report for one destination. */
export class Worker {
    /**
     * @param {Client} client
     * @param {{destination: string, name: string, act: Act, atOnce?: number, idle?: number,
     *   told?: (claim: Schemas["Claim"], recorded?: Schemas["Recorded"], err?: unknown) => void}} options
     *   atOnce: how many attempts at once (1); idle: how long to wait when there is nothing to do (1000 ms)
     */
    constructor(client: Client, options: {
        destination: string;
        name: string;
        act: Act;
        atOnce?: number;
        idle?: number;
        told?: (claim: Schemas["Claim"], recorded?: Schemas["Recorded"], err?: unknown) => void;
    });
    /**
     * Works until the signal ends; what is in flight is finished and reported then. It only
     * throws what waiting does not mend: a token that is refused, a destination not found.
     * @param {AbortSignal} signal
     */
    run(signal: AbortSignal): Promise<void>;
    /**
     * Claims what is permitted now, carries it out, and gives the number of attempts.
     * @returns {Promise<number>}
     */
    once(): Promise<number>;
    #private;
}
export type Schemas = import("holdpoint-client/api").components["schemas"];
export type Client = import("./client.js").Client;
export type Report = import("./client.js").Report;
export type Permit = import("./permit.js").Permit;
/**
 * Sends permit.request once and says what became of it. Its signal ends when nothing may
 * be sent any more. An act that throws counts as unknown.
 */
export type Act = (permit: Permit, signal: AbortSignal) => Promise<Report>;
