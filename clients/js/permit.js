import http from "node:http";
import https from "node:https";

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
export function permit(answer, asked, now = clocks) {
  return {
    ...answer,
    left() {
      const t = now();
      return answer.budget_ms - Math.max(t.steady - asked.steady, t.wall - asked.wall);
    },
  };
}

/** Reads both clocks, in milliseconds. */
export function clocks() {
  return { steady: performance.now(), wall: Date.now() };
}

/**
 * Sends the request of a permit, once: one connection of its own, no redirect followed,
 * nothing repeated. Add the credential that permit.credential names as a header. It
 * rejects when there is no whole answer; that is not a failure but an unknown outcome.
 * @param {Permit} p
 * @param {{headers?: Record<string, string>, signal?: AbortSignal, limit?: number}} [options] limit: bytes of the answer that are read, 65536
 * @returns {Promise<{status: number, headers: http.IncomingHttpHeaders, body: string}>}
 */
export function send(p, options = {}) {
  const { request } = p;
  if (request.kind !== "http" || !request.url) throw new TypeError("only a request of kind http can be sent here");
  if (p.left() <= 0) throw new Error("the time to send is over");
  const url = new URL(request.url);
  /** @type {Record<string, string | number>} */
  const headers = { ...options.headers };
  for (const h of request.header ?? []) headers[h.name] = h.value;
  const body = Buffer.from(request.body ?? "", "utf8");
  if (body.length > 0 || request.method !== "GET") headers["Content-Length"] = body.length;
  const limit = options.limit ?? 65536;
  return new Promise((resolve, reject) => {
    const call = (url.protocol === "https:" ? https : http).request(url, { method: request.method, headers, agent: false, signal: options.signal }, (answer) => {
      /** @type {Buffer[]} */
      const parts = [];
      let size = 0;
      answer.on("data", (/** @type {Buffer} */ part) => {
        size += part.length;
        if (size <= limit) return parts.push(part);
        reject(new Error("the answer is too long"));
        answer.destroy();
      });
      answer.on("error", reject);
      answer.on("aborted", () => reject(new Error("the answer was cut")));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts).toString("utf8") }));
    });
    call.on("error", reject);
    call.end(body);
  });
}
