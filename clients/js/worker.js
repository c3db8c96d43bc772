import { Problem, passing, refused } from "./problem.js";
import { pause, untilTold } from "./client.js";

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
export async function carry(client, claim, act) {
  const lease = Date.parse(claim.lease_until) - Date.now();
  const asking = AbortSignal.timeout(Math.max(lease, 1000));
  // The same fence gets the same answer, so a lost one is asked for again.
  const p = await untilTold(() => client.dispatch(claim, {}, asking), asking);
  if (p.left() <= 0) {
    // Dispatched, but not sent. Only the destination could prove that; so it is unknown.
    return client.reportUntilTold(claim, { code: "send_by_passed" });
  }
  const beat = setInterval(() => {
    client.heartbeat(claim).catch((err) => {
      if (refused(err)) clearInterval(beat);
    });
  }, Math.max(lease / 3, 1000));
  beat.unref();
  /** @type {Report} */
  let said;
  try {
    said = await act(p, AbortSignal.timeout(Math.max(Math.floor(p.left()), 1)));
  } catch (err) {
    said = { code: "thrown", excerpt: String(err) };
  } finally {
    clearInterval(beat);
  }
  return client.reportUntilTold(claim, said, AbortSignal.timeout(10 * 60_000));
}

/** Runs the loop permit – dispatch – act – report for one destination. */
export class Worker {
  #client;
  #options;

  /**
   * @param {Client} client
   * @param {{destination: string, name: string, act: Act, atOnce?: number, idle?: number,
   *   told?: (claim: Schemas["Claim"], recorded?: Schemas["Recorded"], err?: unknown) => void}} options
   *   atOnce: how many attempts at once (1); idle: how long to wait when there is nothing to do (1000 ms)
   */
  constructor(client, options) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Works until the signal ends; what is in flight is finished and reported then. It only
   * throws what waiting does not mend: a token that is refused, a destination not found.
   * @param {AbortSignal} signal
   */
  async run(signal) {
    while (!signal.aborted) {
      try {
        if ((await this.once()) > 0) continue;
      } catch (err) {
        if (err instanceof Problem && !passing(err) && err.status !== 409) throw err;
      }
      await pause(this.#options.idle ?? 1000, signal);
    }
  }

  /**
   * Claims what is permitted now, carries it out, and gives the number of attempts.
   * @returns {Promise<number>}
   */
  async once() {
    const { destination, name, act, atOnce = 1, told } = this.#options;
    const claims = await this.#client.claims(destination, name, atOnce);
    await Promise.all(claims.map(async (claim) => {
      try {
        const recorded = await carry(this.#client, claim, act);
        told?.(claim, recorded);
      } catch (err) {
        told?.(claim, undefined, err);
      }
    }));
    return claims.length;
  }
}
