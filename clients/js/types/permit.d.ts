/** @typedef {import("holdpoint-client/api").components["schemas"]} Schemas */
/**
 * What a dispatch handed out: exactly these bytes, once, while left() is above zero.
 * @typedef {Schemas["Dispatch"] & {left: () => number}} Permit
 */
/**
 * Adds left() to a dispatch answer: milliseconds in which the request may still be sent,
 * measured on this machine's own clocks from before the call. The monotonic clock counts,
 * and the wall clock too, since the monotonic one may stand still while a machine sleeps.
 * @param {Schemas["Dispatch"]} answer
 * @param {{steady: number, wall: number}} asked
 * @param {() => {steady: number, wall: number}} [now]
 * @returns {Permit}
 */
export function permit(answer: Schemas["Dispatch"], asked: {
    steady: number;
    wall: number;
}, now?: () => {
    steady: number;
    wall: number;
}): Permit;
/** Reads both clocks, in milliseconds. */
export function clocks(): {
    steady: number;
    wall: number;
};
/**
 * Sends the request of a permit, once: one connection of its own, no redirect followed,
 * nothing repeated. Add the credential that permit.credential names as a header. It
 * rejects when there is no whole answer; that is not a failure but an unknown outcome.
 * @param {Permit} p
 * @param {{headers?: Record<string, string>, signal?: AbortSignal, limit?: number}} [options] limit: bytes of the answer that are read, 65536
 * @returns {Promise<{status: number, headers: http.IncomingHttpHeaders, body: string}>}
 */
export function send(p: Permit, options?: {
    headers?: Record<string, string>;
    signal?: AbortSignal;
    limit?: number;
}): Promise<{
    status: number;
    headers: http.IncomingHttpHeaders;
    body: string;
}>;
export type Schemas = import("holdpoint-client/api").components["schemas"];
/**
 * What a dispatch handed out: exactly these bytes, once, while left() is above zero.
 */
export type Permit = Schemas["Dispatch"] & {
    left: () => number;
};
import http from "node:http";
