// Against a real server and sandbox: `make peers` starts them and sets the addresses.
// CONTROL approves as people would, and loses answers on request.
import assert from "node:assert/strict";
import test from "node:test";

import { Client, Worker, carry, effect, refused, send } from "../index.js";

const { HOLDPOINT_URL, HOLDPOINT_TOKEN, CONTROL_URL, SANDBOX_URL } = process.env;
const server = HOLDPOINT_URL ? test : test.skip;
const client = new Client(HOLDPOINT_URL ?? "", HOLDPOINT_TOKEN ?? "");

async function control(path) {
  const answer = await fetch(CONTROL_URL + path, { method: "POST" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}
const approve = (op) => control(`/approve/${op}`);

async function tasks(op) {
  const answer = await fetch(`${SANDBOX_URL}/_control/ledger?destination=crm&reference=${op}`);
  return (await answer.json()).effects;
}

async function act(permit, signal) {
  const answer = await send(permit, { headers: { Authorization: "Bearer demo-token" }, signal });
  if (answer.status !== 201) return { status: answer.status, excerpt: answer.body, code: answer.status === 429 ? "rate_limited" : "unrecognised" };
  return { outcome: "confirmed", status: 201, code: "created", target_reference: JSON.parse(answer.body).id };
}

const start = (subject) => ({ flow: "partner-task", inputs: { subject } });

server("the same key is the same operation, other content under it is refused", async () => {
  const first = await client.create('order "1"', start("One"));
  const again = await client.create('order "1"', start("One"));
  assert.equal(again.operation, first.operation);
  assert.deepEqual([first.repeated, again.repeated], [false, true]);
  await assert.rejects(client.create('order "1"', start("Two")), (err) => err.status === 422 && err.code === "key_reused");
});

server("permit, act, report: one effect, however often and at once it is asked for", async () => {
  const ask = () => effect(client, { key: "order-2", start: start("Pack order 2"), act, patience: 20_000 });
  const { operation } = await client.create("order-2", start("Pack order 2"));
  await assert.rejects(client.claim(operation, "js"), (err) => refused(err) !== undefined && err.responsible !== undefined);
  const all = Promise.all([ask(), ask(), ask()]);
  await approve(operation);
  const ops = await all;
  const found = await tasks(operation);
  assert.equal(found.length, 1);
  for (const op of ops) assert.deepEqual([op.state, op.target_reference], ["confirmed", found[0].id]);
  assert.equal((await ask()).target_reference, found[0].id, "asked again much later");
  assert.equal((await tasks(operation)).length, 1);
});

server("patience ends while people think; a rejection is an answer", async () => {
  const ask = () => effect(client, { key: "order-3", start: start("Three"), act, patience: 50 });
  const op = await ask();
  assert.equal(op.state, "pending_approval");
  await control(`/reject/${op.id}`);
  assert.equal((await ask()).state, "rejected");
  assert.equal((await tasks(op.id)).length, 0);
});

server("answers that get lost lead to the same attempt and one send", async () => {
  const { operation } = await client.create("order-4", start("Four"));
  await approve(operation);
  await control("/lose/dispatch/2");
  await control("/lose/outcome/2");
  let sent = 0;
  const recorded = await carry(client, await client.claim(operation, "js"), (p, signal) => {
    sent++;
    assert.ok(p.left() > 0 && !signal.aborted);
    return act(p, signal);
  });
  assert.deepEqual([recorded.state, recorded.late, sent], ["confirmed", false, 1]);
  assert.equal((await client.get(operation)).attempts.length, 1);
  assert.equal((await tasks(operation)).length, 1);
});

server("what is not proven is unknown, and is not done again", async () => {
  const sends = { n: 0 };
  for (const [name, say] of Object.entries({
    empty: async () => ({}),
    nothing: async () => undefined,
    thrown: async () => { throw new Error("lost"); },
    "no reference": async () => ({ outcome: "confirmed", status: 201 }),
    "a code of one's own": async () => ({ outcome: "not_started", code: "felt_like_it" }),
  })) {
    const { operation } = await client.create(`unknown-${name}`, start(name));
    await approve(operation);
    const recorded = await carry(client, await client.claim(operation, "js"), (p) => (sends.n++, say(p)));
    assert.equal(recorded.outcome, "unknown", name);
    const op = await effect(client, { key: `unknown-${name}`, start: start(name), act: () => (sends.n++, {}), patience: 50 });
    assert.ok(["unknown", "review"].includes(op.state), `${name}: ${op.state}`);
  }
  assert.equal(sends.n, 5);
});

server("an answer lost at the destination is looked up and found, not sent again", async () => {
  const { operation } = await client.create("order-5", start("Five"));
  await approve(operation);
  let sent = 0;
  const op = await effect(client, { key: "order-5", start: start("Five"), patience: 30_000, act: async (p, signal) => {
    sent++;
    await act(p, signal); // it exists now, and this program dies before it can say so
    return { code: "no_answer" };
  } });
  assert.deepEqual([op.state, sent, (await tasks(operation)).length], ["confirmed", 1, 1]);
});

server("a worker takes what is permitted, finishes what is in flight, and ends", async () => {
  const { operation } = await client.create("order-6", start("Six"));
  await approve(operation);
  const stop = new AbortController();
  const told = [];
  const worker = new Worker(client, { destination: "partner", name: "js", idle: 20, told: (claim, recorded, err) => told.push([claim.operation, recorded?.state, err]),
    act: (p, signal) => (stop.abort(), act(p, signal)) });
  await worker.run(stop.signal);
  assert.deepEqual(told, [[operation, "confirmed", undefined]]);
  await assert.rejects(new Worker(client, { destination: "nowhere", name: "js", act }).run(new AbortController().signal), (err) => err.status === 404);
  await assert.rejects(new Worker(new Client(HOLDPOINT_URL, "wrong"), { destination: "partner", name: "js", act }).run(new AbortController().signal), (err) => err.status === 401);
});

server("events: the same one again gets the same operations", async () => {
  const event = { specversion: "1.0", id: "1", source: "//test", type: "partner.task", data: { subject: "By event" } };
  const first = await client.postEvent(event);
  const again = await client.postEvent(event);
  assert.deepEqual([first.verdict, again.verdict], ["accepted", "repeated"]);
  assert.deepEqual(again.operations, first.operations);
  const op = await client.get(first.operations[0]);
  const changed = await client.addVersion(op.id, { content: { ...op.version.content, subject: "Other words" } });
  assert.equal(changed.version.content.subject, "Other words");
});

server("a batch: the same list under the same key is one batch; it is read, held, and given up", async () => {
  const what = { flow: "mailing", inputs: { season: "spring" }, shared: { subject: "Hello {{name}}" } };
  const person = (i) => ({ email: `js${i}@example.test`, name: `Person ${i}` });
  const list = [1, 2, 3, 4, 5, 1].map(person);
  await assert.rejects(client.createBatch("bad", what, [person(1), { email: "nobody", name: "x" }]), (err) => err.status === 422 && err.code === "rows" && err.rows[0].row === 2 && err.rowsTotal === 1);
  await control("/lose/batches/1");
  const made = await client.createBatch('spring "1"', what, list).catch(() => client.createBatch('spring "1"', what, list));
  assert.deepEqual([made.repeated, made.state, made.total, made.included, made.duplicates], [true, "pending_approval", 6, 5, 1]);
  await assert.rejects(client.createBatch('spring "1"', what, list.slice(1)), (err) => err.status === 422 && err.code === "key_reused");
  const seen = [];
  for (let after = 0; ; ) {
    const page = await client.batchItems(made.batch, { after, limit: 4 });
    seen.push(...page.items.map((x) => x.excluded || x.key));
    if (!page.next) break;
    after = page.next;
  }
  assert.deepEqual(seen, ["js1@example.test", "js2@example.test", "js3@example.test", "js4@example.test", "js5@example.test", "duplicate"]);
  assert.equal((await client.batchItems(made.batch, { only: "waiting", search: "js3" })).items.length, 1);
  await assert.rejects(client.haltBatch(made.batch, "pause", "too soon"), (err) => err.status === 409);
  await control("/pause/mail");
  await control(`/approve-batch/${made.batch}`);
  const paused = await client.haltBatch(made.batch, "pause", "the page is down");
  assert.deepEqual([paused.paused, paused.pause_reason, paused.decisions.length], [true, "the page is down", 2]);
  assert.equal((await client.haltBatch(made.batch, "resume", "up again")).paused, false);
  const stopped = await client.haltBatch(made.batch, "stop", "enough");
  assert.equal(stopped.stopped, true);
  for (let tries = 0; (await client.batch(made.batch)).state !== "closed"; tries++) {
    assert.ok(tries < 200, "the batch is not closed");
    await new Promise((go) => setTimeout(go, 50));
  }
  const { counts } = await client.batch(made.batch);
  assert.deepEqual([counts.total, counts.duplicates, counts.given_up + (counts.states.cancelled ?? 0)], [6, 1, 5]);
  await control("/resume/mail");
});

server("a batch that is approved goes out, one mail for each row", async () => {
  const list = Array.from({ length: 12 }, (_, i) => ({ email: `out${i}@example.test`, name: `Out ${i}` }));
  const made = await client.createBatch("out", { flow: "mailing", inputs: { season: "autumn" }, shared: { subject: "Hello" } }, list);
  await control(`/approve-batch/${made.batch}`);
  for (let tries = 0; (await client.batch(made.batch)).state !== "closed"; tries++) {
    assert.ok(tries < 200, "the batch is not closed");
    await new Promise((go) => setTimeout(go, 50));
  }
  assert.deepEqual((await client.batch(made.batch)).counts.states, { confirmed: 12 });
  for (const item of (await client.batchItems(made.batch, { state: "confirmed" })).items) {
    assert.equal((await client.get(item.operation)).state, "confirmed");
  }
});

server("the suppression list: added once, read page by page, lifted with a reason", async () => {
  const entries = [{ address: "Js-Kim@Example.test", reason: "unsubscribed", scope: "effect", channel: "email" }, { address: "js-lee@example.test", reason: "manual" }];
  await control("/lose/suppressions/1");
  const again = await client.addSuppressions(entries, "weekly").catch(() => client.addSuppressions(entries, "weekly"));
  assert.deepEqual([again.added, again.known, again.suppressions], [0, 2, []]);
  await assert.rejects(client.addSuppressions([{ address: "x@example.test", reason: "manual", scope: "destination", channel: "nowhere" }]), (err) => err.status === 422);
  const first = await client.suppressions({ search: "js-", limit: 1 });
  const rest = await client.suppressions({ search: "js-", limit: 1, after: first.next });
  assert.deepEqual([first.suppressions.length, rest.suppressions.length, rest.next], [1, 1, undefined]);
  const [kim] = (await client.suppressions({ search: "js-kim", reason: "unsubscribed", channel: "email" })).suppressions;
  assert.equal(kim.source, "api");
  assert.equal(await client.liftSuppression(kim.id, "asked again"), undefined);
  await client.liftSuppression(kim.id, "asked again");
  assert.equal((await client.suppressions({ search: "js-kim", lifted: true })).suppressions[0].lifted_why, "asked again");
  await assert.rejects(client.liftSuppression("sup_00000000000000000000000000", "x"), (err) => err.status === 404);
});
