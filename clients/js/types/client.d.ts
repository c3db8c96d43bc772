/**
 * Repeats a call whose answer may have been lost, until it is answered or the signal ends.
 * Only for calls that change nothing when they come again.
 * @template T
 * @param {() => Promise<T>} call
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export function untilTold<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
/**
 * Waits; it ends early, without an error, when the signal does.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function pause(ms: number, signal?: AbortSignal): Promise<void>;
/** @typedef {import("holdpoint-client/api").components["schemas"]} Schemas */
/** @typedef {import("./permit.js").Permit} Permit */
/**
 * What a job says about its attempt. What is left out says unknown.
 * @typedef {object} Report
 * @property {"confirmed" | "not_started" | "unknown"} [outcome]
 * @property {string} [code] for not_started: one that the destination's profile lists
 * @property {number} [status] the destination's status
 * @property {string} [excerpt] of its answer; Holdpoint masks secrets and personal data
 * @property {string} [target_reference] for confirmed: the destination's own identifier
 * @property {string} [target_url]
 */
/**
 * What a job says it means to send. If it is not the approved content, the call is refused
 * with content_differs.
 * @typedef {Pick<Schemas["ClaimRequest"], "content" | "content_hash" | "request">} Presented
 */
/** Calls the job API. */
export class Client {
    /**
     * @param {string} base the address that people open, e.g. https://hold.example.com
     * @param {string} token
     * @param {{fetch?: typeof fetch, timeout?: number}} [options] timeout of one call to Holdpoint, ms
     */
    constructor(base: string, token: string, options?: {
        fetch?: typeof fetch;
        timeout?: number;
    });
    /**
     * Starts a run under the caller's own key. The same key with the same content gives the
     * same operations: repeat the call until it is answered.
     * @param {string} key
     * @param {Schemas["NewOperation"]} what
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["Created"]>}
     */
    create(key: string, what: Schemas["NewOperation"], signal?: AbortSignal): Promise<Schemas["Created"]>;
    /**
     * @param {string} operation
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["Operation"]>}
     */
    get(operation: string, signal?: AbortSignal): Promise<Schemas["Operation"]>;
    /**
     * Gives the operation as soon as its revision is another one, or as it is when the time
     * is over.
     * @param {string} operation
     * @param {number} revision the known one
     * @param {number} ms at most 60000
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["Operation"]>}
     */
    wait(operation: string, revision: number, ms: number, signal?: AbortSignal): Promise<Schemas["Operation"]>;
    /**
     * Writes new content and puts it up for approval.
     * @param {string} operation
     * @param {Schemas["NewVersion"]} version
     * @returns {Promise<Schemas["Operation"]>}
     */
    addVersion(operation: string, version: Schemas["NewVersion"]): Promise<Schemas["Operation"]>;
    /**
     * Makes a batch of a list: one operation for each item, approved by one decision. The
     * same key with the same list gives the same batch: repeat the call until it is answered.
     * A Problem with the code rows names rows that cannot go out; nothing is stored then.
     * @param {string} key
     * @param {{flow: string, stage?: string, run_key?: string, name?: string, note?: string, inputs?: Record<string, unknown>, shared?: Record<string, string>, author?: Schemas["Author"], problems?: "refuse" | "draft"}} what
     * @param {unknown[]} items
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["BatchCreated"]>}
     */
    createBatch(key: string, what: {
        flow: string;
        stage?: string;
        run_key?: string;
        name?: string;
        note?: string;
        inputs?: Record<string, unknown>;
        shared?: Record<string, string>;
        author?: Schemas["Author"];
        problems?: "refuse" | "draft";
    }, items: unknown[], signal?: AbortSignal): Promise<Schemas["BatchCreated"]>;
    /**
     * @param {string} batch
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["Batch"]>}
     */
    batch(batch: string, signal?: AbortSignal): Promise<Schemas["Batch"]>;
    /**
     * Gives a page of a batch's items in the list's order; next of it is after of the
     * following page.
     * @param {string} batch
     * @param {{after?: number, limit?: number, state?: string, search?: string, only?: "waiting" | "excluded" | "duplicate" | "suppressed" | "problem" | "open"}} [query]
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["BatchItems"]>}
     */
    batchItems(batch: string, query?: {
        after?: number;
        limit?: number;
        state?: string;
        search?: string;
        only?: "waiting" | "excluded" | "duplicate" | "suppressed" | "problem" | "open";
    }, signal?: AbortSignal): Promise<Schemas["BatchItems"]>;
    /**
     * Begins no more of a batch (pause), lets it go on where a token paused it (resume), or
     * gives its unsent rest up for good (stop).
     * @param {string} batch
     * @param {"pause" | "resume" | "stop"} verb
     * @param {string} reason
     * @returns {Promise<Schemas["Batch"]>}
     */
    haltBatch(batch: string, verb: "pause" | "resume" | "stop", reason: string): Promise<Schemas["Batch"]>;
    /**
     * Gives a page of the suppression list, the newest first: what holds, or with lifted what
     * was lifted or is over. next of it is after of the following page.
     * @param {{search?: string, reason?: Schemas["SuppressionReason"], channel?: string, lifted?: boolean, after?: string, limit?: number}} [query]
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["Suppressions"]>}
     */
    suppressions(query?: {
        search?: string;
        reason?: Schemas["SuppressionReason"];
        channel?: string;
        lifted?: boolean;
        after?: string;
        limit?: number;
    }, signal?: AbortSignal): Promise<Schemas["Suppressions"]>;
    /**
     * Puts at most 1000 addresses on the suppression list, all or none; note goes into the
     * history. What the list has already stays: the same call again changes nothing.
     * @param {Schemas["NewSuppression"][]} entries
     * @param {string} [note]
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["SuppressionsAdded"]>}
     */
    addSuppressions(entries: Schemas["NewSuppression"][], note?: string, signal?: AbortSignal): Promise<Schemas["SuppressionsAdded"]>;
    /**
     * Lets things be sent to the address again. The entry stays on record as lifted.
     * @param {string} suppression
     * @param {string} reason
     * @param {AbortSignal} [signal]
     * @returns {Promise<void>}
     */
    liftSuppression(suppression: string, reason: string, signal?: AbortSignal): Promise<void>;
    /**
     * Enters an event: a CloudEvent 1.0 (it has specversion), or plain JSON of a source whose
     * file says where its keys stand.
     * @param {Record<string, unknown>} event
     * @param {string} [source] the configured source; left out = the only one that fits
     * @returns {Promise<Schemas["Receipt"]>}
     */
    postEvent(event: Record<string, unknown>, source?: string): Promise<Schemas["Receipt"]>;
    /**
     * Asks for a permit on one operation. It holds nothing to send yet.
     * @param {string} operation
     * @param {string} worker a name for people
     * @param {Presented} [presented]
     * @returns {Promise<Schemas["Claim"]>}
     */
    claim(operation: string, worker: string, presented?: Presented): Promise<Schemas["Claim"]>;
    /**
     * Asks for permits on the next operations of a destination. Ask for no more than you
     * execute at once.
     * @param {string} destination
     * @param {string} worker
     * @param {number} max
     * @returns {Promise<Schemas["Claim"][]>}
     */
    claims(destination: string, worker: string, max: number): Promise<Schemas["Claim"][]>;
    /**
     * Takes the bytes that may be sent. When the answer is lost, ask again with the same
     * claim: the same answer comes again, with what is left of the time.
     * @param {Schemas["Claim"]} claim
     * @param {Presented} [presented]
     * @param {AbortSignal} [signal]
     * @returns {Promise<Permit>}
     */
    dispatch(claim: Schemas["Claim"], presented?: Presented, signal?: AbortSignal): Promise<Permit>;
    /**
     * Extends the lease, up to its cap. It does not extend the time to send.
     * @param {Schemas["Claim"]} claim
     * @returns {Promise<Schemas["Lease"]>}
     */
    heartbeat(claim: Schemas["Claim"]): Promise<Schemas["Lease"]>;
    /**
     * Reports an outcome. The same report again changes nothing.
     * @param {Schemas["Claim"]} claim
     * @param {Report} report
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["Recorded"]>}
     */
    report(claim: Schemas["Claim"], report: Report, signal?: AbortSignal): Promise<Schemas["Recorded"]>;
    /**
     * Repeats report until Holdpoint has answered; a refusal is an answer. What a job knows
     * about an effect must not be lost with one connection.
     * @param {Schemas["Claim"]} claim
     * @param {Report} report
     * @param {AbortSignal} [signal]
     * @returns {Promise<Schemas["Recorded"]>}
     */
    reportUntilTold(claim: Schemas["Claim"], report: Report, signal?: AbortSignal): Promise<Schemas["Recorded"]>;
    #private;
}
export type Schemas = import("holdpoint-client/api").components["schemas"];
export type Permit = import("./permit.js").Permit;
/**
 * What a job says about its attempt. What is left out says unknown.
 */
export type Report = {
    outcome?: "unknown" | "confirmed" | "not_started" | undefined;
    /**
     * for not_started: one that the destination's profile lists
     */
    code?: string | undefined;
    /**
     * the destination's status
     */
    status?: number | undefined;
    /**
     * of its answer; Holdpoint masks secrets and personal data
     */
    excerpt?: string | undefined;
    /**
     * for confirmed: the destination's own identifier
     */
    target_reference?: string | undefined;
    target_url?: string | undefined;
};
/**
 * What a job says it means to send. If it is not the approved content, the call is refused
 * with content_differs.
 */
export type Presented = Pick<Schemas["ClaimRequest"], "content" | "content_hash" | "request">;
