// The real LangGraph on a real PostgreSQL: whatever it runs again, one effect.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";

import { Annotation, Command, END, START, StateGraph } from "@langchain/langgraph";
import { effect } from "holdpoint-client";
import { effectKey } from "holdpoint-client/langgraph";

import { campaign, createTask, runToEnd } from "../graph.js";
import { approve, client, control, effects, fault, order, saver, until } from "./world.js";

const checkpointer = await saver();
after(() => checkpointer.end());

const make = (more = {}) => campaign({ client, checkpointer, patience: 100, ...more });
const on = (thread, more = {}) => ({ configurable: { thread_id: thread, ...more } });

/** Runs a new thread to its first pause. */
async function paused(graph, thread) {
  const r = await graph.invoke(order(thread), on(thread));
  return one(r);
}

function one(r) {
  assert.equal(r.__interrupt__?.length, 1, "the thread has paused once");
  return { id: r.__interrupt__[0].id, ...r.__interrupt__[0].value.holdpoint };
}

/** Lets the mail of a thread that stands at it go out. */
async function mailed(graph, thread, r) {
  const mail = one(r);
  assert.equal((await client.get(mail.operation)).state, "pending_approval", "the task's approval did not release the mail");
  await approve(mail.operation);
  const done = await runToEnd(graph, client, thread);
  assert.equal(done.mail.state, "confirmed");
  assert.equal(await effects("mail", mail.operation), 1);
  return done;
}

test("a campaign: two approvals, one task, one mail", async () => {
  const graph = make();
  const task = await paused(graph, "plain");
  await approve(task.operation);
  const r = await graph.invoke(new Command({ resume: { [task.id]: "go on" } }), on("plain"));
  assert.deepEqual([r.task.state, await effects("crm", task.operation)], ["confirmed", 1]);
  const done = await mailed(graph, "plain", r);
  assert.equal(done.task.operation, task.operation);
});

test("a node that runs again from its start finds its operation", async () => {
  const graph = make();
  const task = await paused(graph, "again");
  for (let i = 0; i < 3; i++) {
    const again = one(await graph.invoke(null, on("again")));
    assert.equal(again.operation, task.operation);
  }
  // A resume before anybody has decided: the node asks again and pauses again.
  const early = one(await graph.invoke(new Command({ resume: "approved, I swear" }), on("again")));
  assert.equal(early.operation, task.operation);
  assert.equal(await effects("crm", task.operation), 0);
  await approve(task.operation);
  const r = await graph.invoke(new Command({ resume: true }), on("again"));
  assert.deepEqual([r.task.state, await effects("crm", task.operation)], ["confirmed", 1]);
});

test("two resumes at once both run the node, and there is one effect", async () => {
  let ran = 0;
  const counting = Object.create(client, { create: { value: (...a) => (ran++, client.create(...a)) } });
  for (const m of ["get", "wait", "claim", "dispatch", "heartbeat", "reportUntilTold"]) counting[m] = client[m].bind(client);
  let sent = 0;
  const graph = campaign({ client: counting, checkpointer, patience: 10_000, act: (p, s) => (sent++, createTask(p, s)) });
  const impatient = make();
  const task = await paused(impatient, "race");
  await approve(task.operation);
  ran = 0;
  // The mail would wait for people in both, so each is stopped in front of it.
  const resume = (say) => graph.invoke(new Command({ resume: { [task.id]: say } }), { ...on("race"), interruptBefore: ["send-mail"] });
  const both = await Promise.all([resume("A"), resume("B")]);
  assert.equal(ran, 2, "the library ran the effect node twice");
  assert.equal(sent, 1);
  assert.deepEqual(both.map((r) => r.task.state), ["confirmed", "confirmed"]);
  assert.equal(both[0].task.reference, both[1].task.reference);
  assert.equal(await effects("crm", task.operation), 1);
});

test("an old checkpoint runs the node again and finds that it has been done", async () => {
  let sent = 0;
  const graph = make({ act: (p, s) => (sent++, createTask(p, s)) });
  const task = await paused(graph, "old");
  await approve(task.operation);
  const first = await graph.invoke(new Command({ resume: true }), on("old"));
  const before = [];
  for await (const s of graph.getStateHistory(on("old"))) if (s.next[0] === "make-task") before.push(s);
  assert.ok(before.length > 0);
  let again = 0;
  for (const s of before) {
    const r = await graph.invoke(null, s.config);
    assert.deepEqual(r.task, first.task);
    again++;
  }
  assert.deepEqual([again, sent, await effects("crm", task.operation)], [before.length, 1, 1]);
});

test("a resume with an unknown interrupt id releases nothing", async () => {
  const graph = make();
  const task = await paused(graph, "unknown-id");
  const r = one(await graph.invoke(new Command({ resume: { "00000000000000000000000000000000": "approve" } }), on("unknown-id")));
  assert.equal(r.operation, task.operation);
  assert.equal((await client.get(task.operation)).state, "pending_approval");
  await assert.rejects(client.get("op_00000000000000000000000000"), (err) => err.status === 404);
  assert.equal(await effects("crm", task.operation), 0);
});

test("a rejection ends the graph without an effect", async () => {
  const graph = make();
  const task = await paused(graph, "rejected");
  await control(`/reject/${task.operation}`);
  const done = await runToEnd(graph, client, "rejected");
  assert.deepEqual([done.task.state, done.mail, await effects("crm", task.operation)], ["rejected", undefined, 0]);
});

/** Runs child.js and gives how it ended. */
function child(...args) {
  const c = spawn(process.execPath, [fileURLToPath(new URL("child.js", import.meta.url)), ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  c.stdout.on("data", (d) => (out += d));
  return new Promise((resolve) => c.on("close", (code, signal) => resolve({ code, signal, out })));
}

/** The operation at which a thread of another process waits. */
const waitingAt = (thread, node) => until(`${thread} at ${node}`, async () => {
  const s = await make().getState(on(thread));
  const [i] = s.tasks?.flatMap((t) => t.interrupts ?? []) ?? [];
  return s.tasks?.[0]?.name === node && i?.value.holdpoint.operation;
});

test("a process that dies after the effect and before the checkpoint leaves one effect", async () => {
  const dying = child("dies", "die");
  const task = await waitingAt("dies", "make-task");
  await approve(task);
  assert.equal((await dying).signal, "SIGKILL");
  assert.equal(await effects("crm", task), 1, "the task exists, and nobody was told");
  const next = child("dies");
  const mail = await waitingAt("dies", "send-mail");
  await approve(mail);
  const { code, out } = await next;
  assert.equal(code, 0);
  const done = JSON.parse(out);
  assert.deepEqual([done.task.operation, done.task.state, await effects("crm", task), await effects("mail", mail)], [task, "confirmed", 1, 1]);
});

test("two processes on one thread have one effect of each kind", async () => {
  const both = [child("twins"), child("twins")];
  const task = await waitingAt("twins", "make-task");
  await approve(task);
  const mail = await waitingAt("twins", "send-mail");
  await approve(mail);
  for (const { code, out } of await Promise.all(both)) {
    assert.equal(code, 0);
    assert.equal(JSON.parse(out).task.operation, task);
  }
  assert.deepEqual([await effects("crm", task), await effects("mail", mail)], [1, 1]);
});

test("a node that throws after its time-out is run again, its effect is not", async () => {
  const State = Annotation.Root({ task: Annotation() });
  let sent = 0;
  const node = async (state, config) => {
    const op = await effect(client, { key: effectKey(config, "task", "7"), patience: 5000, worker: "thrower",
      start: { flow: "graph-task", inputs: { subject: "Order 7", due: "2027-01-15T09:00:00Z" } },
      act: async (p, s) => { sent++; const r = await createTask(p, s); throw new Error(`lost: ${r.status}`); } });
    if (sent === 1 && !state.task) { sent++; throw new Error("timed out"); }
    return { task: { operation: op.id, state: op.state } };
  };
  const graph = new StateGraph(State).addNode("make-task", node).addEdge(START, "make-task").addEdge("make-task", END).compile({ checkpointer });
  await fault("crm", "drop_after_execute");
  const made = await client.create(effectKey(on("throws"), "task", "7"), { flow: "graph-task", inputs: { subject: "Order 7", due: "2027-01-15T09:00:00Z" } });
  await approve(made.operation);
  await assert.rejects(graph.invoke({}, on("throws")), /timed out/);
  const at = await graph.getState(on("throws"));
  assert.deepEqual(at.next, ["make-task"]);
  assert.ok(at.tasks[0].error);
  const r = await graph.invoke(null, on("throws"));
  assert.deepEqual([r.task.operation, r.task.state, await effects("crm", made.operation)], [made.operation, "confirmed", 1]);
  assert.equal(sent, 2, "one send, and one throw of the node");
});
