// The JavaScript client of Holdpoint's job API: a job asks for a permit, takes the bytes
// that it may send, acts, and reports. Three rules keep the promise that there is never a
// second effect:
//
//   - Send exactly permit.request, once, and only while permit.left() is above zero; send()
//     does that. Let no HTTP library repeat it.
//   - Report "confirmed" only with the destination's own reference, "not_started" only with
//     a code that the destination's profile lists. Everything else is unknown: a time-out, a
//     reset, an answer you do not understand. An empty report says unknown.
//   - Do not try again by yourself. Whether and when is decided by Holdpoint.
export { Client } from "./client.js";
export { CLOSED, effect, isClosed } from "./effect.js";
export { send } from "./permit.js";
export { Problem, refused } from "./problem.js";
export { Worker, carry } from "./worker.js";
