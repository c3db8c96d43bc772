// What a LangGraph graph needs of Holdpoint: keys for the effects of its nodes, the event
// that tells of a pause, and the answer that tells a graph of a refusal.

/**
 * A key for one effect of a node: the same whenever the node runs again on its thread, from
 * whatever checkpoint, and another one for every other effect. Give what makes the effect
 * one of its kind in business terms (an order's number), never a time, a random number or
 * anything that the node makes while it runs.
 * @param {{configurable?: Record<string, any>}} config what the node is called with
 * @param {string} node
 * @param {...(string | number)} business
 */
export function effectKey(config, node, ...business) {
  const thread = config.configurable?.thread_id;
  if (!thread) throw new TypeError("a graph without a thread_id has no key that survives");
  const key = [thread, node, ...business].map((part) => encodeURIComponent(String(part))).join("/");
  if (key.length > 200) throw new TypeError("the key is longer than 200 characters");
  return key;
}

/**
 * The event of a pause, for a source made from systems/sources/langgraph.yaml, or undefined
 * when nothing waits for people. All interrupts pending at a checkpoint belong together.
 * @param {any} state what getState gave, of the library or of the LangGraph server
 * @param {string} assistant the assistant (or graph) with which the server resumes
 */
export function pauseEvent(state, assistant) {
  const at = state.checkpoint ?? state.config?.configurable ?? {};
  const interrupts = (state.tasks ?? []).flatMap((/** @type {any} */ task) => task.interrupts ?? []).map((/** @type {any} */ i) => ({ id: i.id, value: i.value }));
  if (interrupts.length === 0) return undefined;
  interrupts.sort((/** @type {any} */ a, /** @type {any} */ b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return { thread_id: at.thread_id, checkpoint_id: at.checkpoint_id, assistant_id: assistant, interrupts };
}

/**
 * What a graph goes on with when its people have said no: the resume value by interrupt,
 * or undefined when one of its interrupts knows no way to be refused. Nothing is released
 * by it.
 * @param {{id: string, value: any}[]} interrupts
 * @param {string} [message] for forms that take a reason
 * @returns {Record<string, unknown> | undefined}
 */
export function refusal(interrupts, message) {
  /** @type {Record<string, unknown>} */
  const resume = {};
  for (const { id, value } of interrupts) {
    const answer = refuseOne(value, message);
    if (answer === undefined) return undefined;
    resume[id] = answer;
  }
  return resume;
}

/**
 * @param {any} value
 * @param {string} [message]
 */
function refuseOne(value, message) {
  const requests = value?.actionRequests ?? value?.action_requests;
  if (Array.isArray(requests)) {
    const configs = value.reviewConfigs ?? value.review_configs ?? [];
    const may = requests.every((r) => configs.some((/** @type {any} */ c) => (c.actionName ?? c.action_name) === r.name && (c.allowedDecisions ?? c.allowed_decisions ?? []).includes("reject")));
    return may ? { decisions: requests.map(() => (message ? { type: "reject", message } : { type: "reject" })) } : undefined;
  }
  const list = Array.isArray(value) ? value : [value];
  const answers = list.map((r) => {
    if (!r?.action_request) return undefined;
    if (r.config?.allow_ignore) return { type: "ignore", args: null };
    return r.config?.allow_respond && message ? { type: "response", args: message } : undefined;
  });
  return answers.length > 0 && answers.every(Boolean) ? answers : undefined;
}
