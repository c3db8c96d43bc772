export { Client } from "./client.js";
export { send } from "./permit.js";
export { CLOSED, effect, isClosed } from "./effect.js";
export { Problem, refused } from "./problem.js";
export { Worker, carry } from "./worker.js";
