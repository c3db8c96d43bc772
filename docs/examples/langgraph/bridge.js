// A bridge between a LangGraph server and Holdpoint: it tells of every pause that waits for
// people, and takes a refusal back to the graph. What people approve is not its business:
// Holdpoint itself resumes the thread then, once, with exactly the answer that was approved.
//
// node bridge.js [once]: looks every two seconds, or once. It may run in several processes:
// a pause is one event, and the server refuses a second resume or finds nothing pending.
import { Client, isClosed } from "holdpoint-client";
import { pauseEvent, refusal } from "holdpoint-client/langgraph";

const { HOLDPOINT_URL = "http://127.0.0.1:7300", HOLDPOINT_TOKEN = "", LANGGRAPH_URL = "http://127.0.0.1:2024", LANGGRAPH_API_KEY = "" } = process.env;
const client = new Client(HOLDPOINT_URL, HOLDPOINT_TOKEN);

async function server(method, path, body) {
  const answer = await fetch(LANGGRAPH_URL + path, { method, headers: { "Content-Type": "application/json", "x-api-key": LANGGRAPH_API_KEY }, body: body && JSON.stringify(body) });
  const text = await answer.text();
  return { status: answer.status, body: answer.ok ? JSON.parse(text) : text };
}

/** The pause of a thread as an event, or undefined when it waits for nobody we serve. */
async function pauseOf(thread) {
  const state = await server("GET", `/threads/${thread.thread_id}/state`);
  if (state.status !== 200) return undefined;
  const event = pauseEvent(state.body, thread.metadata.assistant_id ?? thread.metadata.graph_id);
  // Nodes that ask the gate themselves pause too; they need no answer from here.
  return event?.interrupts.some((i) => i.value?.holdpoint) ? undefined : event;
}

async function look() {
  const threads = await server("POST", "/threads/search", { status: "interrupted", limit: 100 });
  if (threads.status !== 200) throw new Error(`the LangGraph server: ${threads.status} ${threads.body}`);
  for (const thread of threads.body) {
    const event = await pauseOf(thread);
    if (!event) continue;
    const receipt = await client.postEvent(event, "langgraph"); // the same pause again starts nothing
    for (const id of receipt.operations) {
      const op = await client.get(id);
      if (isClosed(op) && op.state !== "confirmed") await refuse(thread, event, op);
    }
  }
}

/** Tells a graph that its people said no. It releases nothing, whoever does it and however often. */
async function refuse(thread, event, op) {
  const resume = refusal(event.interrupts, `Not approved (${op.state}): ${op.link}`);
  if (!resume) return console.error(`thread ${thread.thread_id} knows no way to be refused; see ${op.link}`);
  const run = await server("POST", `/threads/${thread.thread_id}/runs`, { assistant_id: event.assistant_id, command: { resume }, multitask_strategy: "reject" });
  console.log(`thread ${thread.thread_id}: ${op.state}, ${run.status === 200 ? "told" : "told another time"}`);
}

for (;;) {
  await look().catch((err) => console.error(err.message));
  if (process.argv[2] === "once") break;
  await new Promise((r) => setTimeout(r, 2000));
}
