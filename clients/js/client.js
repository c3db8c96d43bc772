import { Problem, passing } from "./problem.js";
import { clocks, permit } from "./permit.js";

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
  #base;
  #token;
  #fetch;
  #timeout;

  /**
   * @param {string} base the address that people open, e.g. https://hold.example.com
   * @param {string} token
   * @param {{fetch?: typeof fetch, timeout?: number}} [options] timeout of one call to Holdpoint, ms
   */
  constructor(base, token, options = {}) {
    this.#base = base.replace(/\/$/, "") + "/api/v1";
    this.#token = token;
    this.#fetch = options.fetch ?? fetch;
    this.#timeout = options.timeout ?? 90_000;
  }

  /**
   * Starts a run under the caller's own key. The same key with the same content gives the
   * same operations: repeat the call until it is answered.
   * @param {string} key
   * @param {Schemas["NewOperation"]} what
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["Created"]>}
   */
  create(key, what, signal) {
    return this.#call("POST", "/operations", what, { signal, headers: { "Idempotency-Key": JSON.stringify(key) } });
  }

  /**
   * @param {string} operation
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["Operation"]>}
   */
  get(operation, signal) {
    return this.#call("GET", `/operations/${encodeURIComponent(operation)}`, undefined, { signal });
  }

  /**
   * Gives the operation as soon as its revision is another one, or as it is when the time
   * is over.
   * @param {string} operation
   * @param {number} revision the known one
   * @param {number} ms at most 60000
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["Operation"]>}
   */
  wait(operation, revision, ms, signal) {
    const wait = Math.max(1, Math.min(Math.round(ms), 60_000));
    return this.#call("GET", `/operations/${encodeURIComponent(operation)}?wait=${wait}ms&revision=${revision}`, undefined, { signal });
  }

  /**
   * Writes new content and puts it up for approval.
   * @param {string} operation
   * @param {Schemas["NewVersion"]} version
   * @returns {Promise<Schemas["Operation"]>}
   */
  addVersion(operation, version) {
    return this.#call("POST", `/operations/${encodeURIComponent(operation)}/versions`, version);
  }

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
  createBatch(key, what, items, signal) {
    return this.#call("POST", "/batches", { ...what, items }, { signal, headers: { "Idempotency-Key": JSON.stringify(key) } });
  }

  /**
   * @param {string} batch
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["Batch"]>}
   */
  batch(batch, signal) {
    return this.#call("GET", `/batches/${encodeURIComponent(batch)}`, undefined, { signal });
  }

  /**
   * Gives a page of a batch's items in the list's order; next of it is after of the
   * following page.
   * @param {string} batch
   * @param {{after?: number, limit?: number, state?: string, search?: string, only?: "waiting" | "excluded" | "duplicate" | "suppressed" | "problem" | "open"}} [query]
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["BatchItems"]>}
   */
  batchItems(batch, query = {}, signal) {
    return this.#call("GET", `/batches/${encodeURIComponent(batch)}/items?${asked(query)}`, undefined, { signal });
  }

  /**
   * Begins no more of a batch (pause), lets it go on where a token paused it (resume), or
   * gives its unsent rest up for good (stop).
   * @param {string} batch
   * @param {"pause" | "resume" | "stop"} verb
   * @param {string} reason
   * @returns {Promise<Schemas["Batch"]>}
   */
  haltBatch(batch, verb, reason) {
    return this.#call("POST", `/batches/${encodeURIComponent(batch)}/${verb}`, { reason });
  }

  /**
   * Gives a page of the suppression list, the newest first: what holds, or with lifted what
   * was lifted or is over. next of it is after of the following page.
   * @param {{search?: string, reason?: Schemas["SuppressionReason"], channel?: string, lifted?: boolean, after?: string, limit?: number}} [query]
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["Suppressions"]>}
   */
  suppressions(query = {}, signal) {
    return this.#call("GET", `/suppressions?${asked(query)}`, undefined, { signal });
  }

  /**
   * Puts at most 1000 addresses on the suppression list, all or none; note goes into the
   * history. What the list has already stays: the same call again changes nothing.
   * @param {Schemas["NewSuppression"][]} entries
   * @param {string} [note]
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["SuppressionsAdded"]>}
   */
  addSuppressions(entries, note, signal) {
    return this.#call("POST", "/suppressions", { entries, note }, { signal });
  }

  /**
   * Lets things be sent to the address again. The entry stays on record as lifted.
   * @param {string} suppression
   * @param {string} reason
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  async liftSuppression(suppression, reason, signal) {
    await this.#call("DELETE", `/suppressions/${encodeURIComponent(suppression)}?${asked({ reason })}`, undefined, { signal });
  }

  /**
   * Enters an event: a CloudEvent 1.0 (it has specversion), or plain JSON of a source whose
   * file says where its keys stand.
   * @param {Record<string, unknown>} event
   * @param {string} [source] the configured source; left out = the only one that fits
   * @returns {Promise<Schemas["Receipt"]>}
   */
  postEvent(event, source) {
    const type = "specversion" in event ? "application/cloudevents+json" : "application/json";
    return this.#call("POST", source ? `/events?source=${encodeURIComponent(source)}` : "/events", event, { headers: { "Content-Type": type } });
  }

  /**
   * Asks for a permit on one operation. It holds nothing to send yet.
   * @param {string} operation
   * @param {string} worker a name for people
   * @param {Presented} [presented]
   * @returns {Promise<Schemas["Claim"]>}
   */
  claim(operation, worker, presented = {}) {
    return this.#call("POST", `/operations/${encodeURIComponent(operation)}/claim`, { worker, ...presented });
  }

  /**
   * Asks for permits on the next operations of a destination. Ask for no more than you
   * execute at once.
   * @param {string} destination
   * @param {string} worker
   * @param {number} max
   * @returns {Promise<Schemas["Claim"][]>}
   */
  async claims(destination, worker, max) {
    /** @type {Schemas["Claims"]} */
    const out = await this.#call("POST", "/claims", { destination, worker, max });
    return out.claims;
  }

  /**
   * Takes the bytes that may be sent. When the answer is lost, ask again with the same
   * claim: the same answer comes again, with what is left of the time.
   * @param {Schemas["Claim"]} claim
   * @param {Presented} [presented]
   * @param {AbortSignal} [signal]
   * @returns {Promise<Permit>}
   */
  async dispatch(claim, presented = {}, signal) {
    const asked = clocks();
    return permit(await this.#call("POST", `/attempts/${encodeURIComponent(claim.attempt)}/dispatch`, { fence: claim.fence, ...presented }, { signal }), asked);
  }

  /**
   * Extends the lease, up to its cap. It does not extend the time to send.
   * @param {Schemas["Claim"]} claim
   * @returns {Promise<Schemas["Lease"]>}
   */
  heartbeat(claim) {
    return this.#call("POST", `/attempts/${encodeURIComponent(claim.attempt)}/heartbeat`, { fence: claim.fence });
  }

  /**
   * Reports an outcome. The same report again changes nothing.
   * @param {Schemas["Claim"]} claim
   * @param {Report} report
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["Recorded"]>}
   */
  report(claim, report, signal) {
    const { outcome = "unknown", code, status, excerpt, target_reference, target_url } = report ?? {};
    const proof = { code, status, excerpt: excerpt && [...excerpt].slice(0, 8192).join("") };
    return this.#call("POST", `/attempts/${encodeURIComponent(claim.attempt)}/outcome`, { fence: claim.fence, outcome, proof, target_reference, target_url }, { signal });
  }

  /**
   * Repeats report until Holdpoint has answered; a refusal is an answer. What a job knows
   * about an effect must not be lost with one connection.
   * @param {Schemas["Claim"]} claim
   * @param {Report} report
   * @param {AbortSignal} [signal]
   * @returns {Promise<Schemas["Recorded"]>}
   */
  reportUntilTold(claim, report, signal) {
    return untilTold(() => this.report(claim, report, signal), signal);
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @param {{signal?: AbortSignal, headers?: Record<string, string>}} [options]
   * @returns {Promise<any>}
   */
  async #call(method, path, body, options = {}) {
    const limit = AbortSignal.timeout(this.#timeout);
    const answer = await this.#fetch(this.#base + path, {
      method,
      redirect: "manual",
      signal: options.signal ? AbortSignal.any([options.signal, limit]) : limit,
      headers: { Authorization: `Bearer ${this.#token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...options.headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status === 204) return undefined;
    let read;
    try {
      read = JSON.parse(text);
    } catch {
      read = undefined;
    }
    if (!answer.ok) throw new Problem(answer.status, read && typeof read === "object" ? read : { title: answer.statusText });
    if (read === undefined) throw new Error("holdpoint: the answer cannot be read");
    return read;
  }
}

/**
 * @param {Record<string, unknown>} query
 * @returns {URLSearchParams}
 */
function asked(query) {
  return new URLSearchParams(Object.entries(query).filter(([, v]) => v !== undefined).map(([k, v]) => [k, String(v)]));
}

/**
 * Repeats a call whose answer may have been lost, until it is answered or the signal ends.
 * Only for calls that change nothing when they come again.
 * @template T
 * @param {() => Promise<T>} call
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export async function untilTold(call, signal) {
  for (let wait = 100; ; wait = Math.min(2 * wait, 5000)) {
    try {
      return await call();
    } catch (err) {
      if (!passing(err) || signal?.aborted) throw err;
    }
    await pause(wait, signal);
    signal?.throwIfAborted();
  }
}

/**
 * Waits; it ends early, without an error, when the signal does.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}
