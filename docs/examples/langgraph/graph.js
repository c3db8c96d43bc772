// A campaign graph: it writes a task and a mail for one order, and both pass Holdpoint's
// gate. A node of LangGraph runs again from its first line after every pause, from any old
// checkpoint, in two processes at once. So a node asks under a key of its own making, which
// is the same however often it runs; whether anything is sent is decided at the gate.
import { Annotation, Command, END, START, StateGraph, interrupt } from "@langchain/langgraph";
import { effect, isClosed, send } from "holdpoint-client";
import { effectKey } from "holdpoint-client/langgraph";

const State = Annotation.Root({
  order: Annotation(), // {id, email, product, due}: what the campaign is about
  draft: Annotation(), // {task, subject, text}: written by a model in life
  task: Annotation(), // {operation, state, reference}
  mail: Annotation(),
});

/** Writes what people will see. It has no effect outside. */
function compose({ order }) {
  return { draft: {
    task: `Call about ${order.product}, order ${order.id}`,
    subject: `Your ${order.product}`,
    text: `Thank you for your order ${order.id}. May we call you about your ${order.product}?`,
  } };
}

/**
 * Makes a node with one effect. It waits a moment for people; then it pauses the thread, so
 * that no process has to stay. What resumes it needs to carry nothing: the node asks the
 * gate again, which knows what was decided and whether it has been done.
 */
export function effectNode(name, { client, patience = 2000, act, business, start }) {
  return async (state, config) => {
    const key = effectKey(config, name, ...business(state));
    for (;;) {
      const op = await effect(client, { key, start: start(state), act, worker: `graph ${name}`, patience });
      if (isClosed(op)) return { [name]: { operation: op.id, state: op.state, reference: op.target_reference } };
      interrupt({ holdpoint: { operation: op.id, state: op.state, revision: op.revision, link: op.link } });
    }
  };
}

/** Creates the task at the partner with the permitted request. Its report may say unknown; it never repeats. */
export async function createTask(permit, signal) {
  const answer = await send(permit, { headers: { Authorization: `Bearer ${process.env.DESTINATION_TOKEN ?? "demo-token"}` }, signal });
  if (answer.status === 201) return { outcome: "confirmed", status: 201, code: "created", excerpt: answer.body, target_reference: JSON.parse(answer.body).id };
  if (answer.status === 429) return { outcome: "not_started", status: 429, code: "rate_limited" };
  return { status: answer.status, excerpt: answer.body };
}

/** The graph. client is Holdpoint's, checkpointer LangGraph's; more is for tests. */
export function campaign({ client, checkpointer, patience, act = createTask }) {
  const task = effectNode("task", { client, patience, act, business: ({ order }) => [order.id],
    start: ({ draft, order }) => ({ flow: "graph-task", inputs: { subject: draft.task, due: order.due } }) });
  const mail = effectNode("mail", { client, patience, business: ({ order }) => [order.id],
    start: ({ draft, order }) => ({ flow: "graph-mail", inputs: { to: order.email, subject: draft.subject, text: draft.text } }) });
  return new StateGraph(State)
    .addNode("compose", compose)
    .addNode("make-task", task)
    .addNode("send-mail", mail)
    .addEdge(START, "compose")
    .addEdge("compose", "make-task")
    .addConditionalEdges("make-task", ({ task }) => (task.state === "confirmed" ? "send-mail" : END))
    .addEdge("send-mail", END)
    .compile({ checkpointer });
}

/**
 * Runs a thread to its end: where it has paused for people, it waits until the operation
 * has moved, and resumes it by the interrupt's id. It may run in several processes at once.
 */
export async function runToEnd(graph, client, thread, input, signal) {
  const config = { configurable: { thread_id: thread } };
  let at = await graph.getState(config);
  if (at.createdAt === undefined) await graph.invoke(input, config);
  for (;;) {
    signal?.throwIfAborted();
    at = await graph.getState(config);
    // Not at.next: after a crash inside a resumed node it is empty although the thread waits.
    if (at.tasks.length === 0) return at.values;
    const [pause] = pauses(at);
    if (!pause) {
      // It broke off in a node, or another process is in it now: run it again, the gate knows.
      await graph.invoke(null, config);
      continue;
    }
    const { operation, revision } = pause.value.holdpoint;
    const op = await client.wait(operation, revision, 30_000, signal);
    if (op.revision !== revision) await graph.invoke(new Command({ resume: { [pause.id]: op.state } }), config);
  }
}

/** The pending interrupts that wait for Holdpoint. */
function pauses(at) {
  return at.tasks.flatMap((t) => t.interrupts ?? []).filter((i) => i.value?.holdpoint);
}
