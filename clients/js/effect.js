import { refused } from "./problem.js";
import { pause, untilTold } from "./client.js";
import { carry } from "./worker.js";

/** @typedef {import("holdpoint-client/api").components["schemas"]} Schemas */
/** @typedef {import("./client.js").Client} Client */
/** @typedef {import("./worker.js").Act} Act */

/** States in which nothing follows by itself any more. */
export const CLOSED = Object.freeze(["confirmed", "rejected", "cancelled", "not_executed"]);

/**
 * Reports whether an operation is over.
 * @param {{state: string}} operation
 */
export function isClosed(operation) {
  return CLOSED.includes(operation.state);
}

/**
 * One effect, asked for as often as one likes: it begins the operation under the caller's
 * own key, or finds it, waits for people, and gives the operation as it is when it is
 * closed or the patience is over. With act, this program performs the effect itself as
 * soon as the gate permits; without it, Holdpoint's own jobs do, and it only waits.
 *
 * It never repeats anything that may have had an effect: an attempt whose outcome is
 * unknown is looked up by Holdpoint, or a person decides. So it may run twice, at once or
 * again after a crash, and there is still one effect.
 * @param {Client} client
 * @param {{key: string, start: Schemas["NewOperation"], act?: Act, worker?: string, patience?: number, signal?: AbortSignal}} options
 *   key: the same for the same effect, whatever is repeated; patience: how long to wait, ms (60000)
 * @returns {Promise<Schemas["Operation"]>}
 */
export async function effect(client, { key, start, act, worker = "js", patience = 60_000, signal }) {
  const end = performance.now() + patience;
  const made = await untilTold(() => client.create(key, start, signal), signal);
  for (let seen = 0; ; ) {
    const left = end - performance.now();
    const op = await untilTold(() => (seen > 0 && left > 0 ? client.wait(made.operation, seen, Math.min(left, 30_000), signal) : client.get(made.operation, signal)), signal);
    if (isClosed(op)) return op;
    if (act && (op.state === "ready" || op.state === "retry_scheduled")) {
      if (await attempt(client, op.id, worker, act)) {
        seen = 0;
        continue;
      }
      await pause(250, signal); // somebody else has it, or it is not due
    }
    if (performance.now() >= end) return op;
    signal?.throwIfAborted();
    seen = op.state === "retry_scheduled" ? 0 : op.revision;
    if (seen === 0) await pause(250, signal);
  }
}

/**
 * Tries to perform an operation; false when the gate says no.
 * @param {Client} client
 * @param {string} operation
 * @param {string} worker
 * @param {Act} act
 */
async function attempt(client, operation, worker, act) {
  try {
    await carry(client, await client.claim(operation, worker), act);
    return true;
  } catch (err) {
    if (refused(err)) return false;
    throw err;
  }
}
