/**
 * Reports whether an operation is over.
 * @param {{state: string}} operation
 */
export function isClosed(operation: {
    state: string;
}): boolean;
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
export function effect(client: Client, { key, start, act, worker, patience, signal }: {
    key: string;
    start: Schemas["NewOperation"];
    act?: Act;
    worker?: string;
    patience?: number;
    signal?: AbortSignal;
}): Promise<Schemas["Operation"]>;
/** @typedef {import("holdpoint-client/api").components["schemas"]} Schemas */
/** @typedef {import("./client.js").Client} Client */
/** @typedef {import("./worker.js").Act} Act */
/** States in which nothing follows by itself any more. */
export const CLOSED: readonly string[];
export type Schemas = import("holdpoint-client/api").components["schemas"];
export type Client = import("./client.js").Client;
export type Act = import("./worker.js").Act;
