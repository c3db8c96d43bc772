import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";

import { Client, Problem, isClosed, refused, send } from "../index.js";
import { permit } from "../permit.js";
import { effectKey, pauseEvent, refusal } from "../langgraph.js";

test("left() counts from before the call, on the clock that went further", () => {
  const asked = { steady: 1000, wall: 50_000 };
  const at = (steady, wall) => permit({ budget_ms: 10_000 }, asked, () => ({ steady, wall })).left();
  assert.equal(at(1000, 50_000), 10_000);
  assert.equal(at(5000, 54_000), 6000, "after a slow answer");
  assert.equal(at(12_000, 61_000), -1000, "too late");
  assert.equal(at(1000, 80_000), -20_000, "the machine slept: only the wall clock went on");
});

async function listen(handler) {
  const server = http.createServer(handler);
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.closeAllConnections() ?? server.close() };
}

test("send() sends exactly the bytes, once, and follows no redirect", async (t) => {
  const seen = [];
  const s = await listen((req, res) => {
    let body = "";
    req.on("data", (d) => (body += d)).on("end", () => {
      seen.push({ method: req.method, url: req.url, headers: req.headers, body });
      if (req.url === "/cut") return req.socket.destroy();
      if (req.url === "/long") return res.end("x".repeat(2000));
      if (req.url === "/redirect") return res.writeHead(307, { location: "/other" }).end();
      res.writeHead(201, { "content-type": "application/json" }).end('{"id":"T-1"}');
    });
  });
  t.after(s.close);
  const asked = { steady: performance.now(), wall: Date.now() };
  const p = (path) => permit({ budget_ms: 10_000, request: { kind: "http", method: "POST", url: s.url + path, header: [{ name: "X-Key", value: "op_1" }], body: '{"subject":"Zażółć"}' } }, asked);
  const answer = await send(p("/ok"), { headers: { Authorization: "Bearer x" } });
  assert.deepEqual([answer.status, answer.body], [201, '{"id":"T-1"}']);
  assert.equal(seen[0].body, '{"subject":"Zażółć"}');
  assert.equal(seen[0].headers["x-key"], "op_1");
  assert.equal(seen[0].headers.authorization, "Bearer x");
  await assert.rejects(send(p("/cut")));
  await assert.rejects(send(p("/long"), { limit: 1000 }), /too long/);
  assert.equal((await send(p("/redirect"))).status, 307);
  assert.equal(seen.length, 4, "nothing was repeated or followed");
  await assert.rejects(async () => send(permit({ budget_ms: 0, request: { kind: "http", url: s.url } }, asked)), /time to send/);
});

test("problems are typed, and only a 409 is a refusal", async (t) => {
  const s = await listen((req, res) => {
    if (req.url.endsWith("/op_refused")) return res.writeHead(409, { "content-type": "application/problem+json" }).end(JSON.stringify({ type: "urn:x", title: "Conflict", status: 409, code: "not_approved", reason: "No.", next_decision: { kind: "approve", responsible: { role: "approver" } }, link: "https://h/op" }));
    if (req.url.endsWith("/op_broken")) return res.writeHead(502).end("<html>");
    if (req.url.endsWith("/op_moved")) return res.writeHead(302, { location: "/" }).end();
    res.end("not json");
  });
  t.after(s.close);
  const c = new Client(s.url + "/", "t");
  await assert.rejects(c.get("op_refused"), (err) => err instanceof Problem && refused(err) === "not_approved" && err.nextDecision.kind === "approve" && err.link === "https://h/op" && /No\./.test(err.message));
  await assert.rejects(c.get("op_broken"), (err) => err.status === 502 && err.code === "no_problem_document" && refused(err) === undefined);
  await assert.rejects(c.get("op_moved"), (err) => err.status === 302);
  await assert.rejects(c.get("op_other"), /cannot be read/);
});

test("a key is the same for the same effect, and no two effects share one", () => {
  const config = { configurable: { thread_id: "t/1" } };
  assert.equal(effectKey(config, "mail", "order 7"), effectKey({ configurable: { thread_id: "t/1", checkpoint_id: "old" } }, "mail", "order 7"));
  assert.notEqual(effectKey(config, "mail", "a/b"), effectKey(config, "mail", "a", "b"));
  assert.notEqual(effectKey(config, "mail", "7"), effectKey(config, "task", "7"));
  assert.throws(() => effectKey({}, "mail"), /thread_id/);
  assert.throws(() => effectKey(config, "x".repeat(300)), /200/);
});

const inbox = (config) => ({ action_request: { action: "send", args: {} }, config });
const asks = (...allowed) => ({ actionRequests: [{ name: "send", args: {} }], reviewConfigs: [{ actionName: "send", allowedDecisions: allowed }] });

test("a pause becomes one event, whoever saw it", () => {
  const tasks = [{ interrupts: [{ id: "b", value: 1, ns: ["x"] }] }, { interrupts: [] }, { interrupts: [{ id: "a", value: 2 }] }];
  const library = pauseEvent({ tasks, config: { configurable: { thread_id: "t", checkpoint_id: "c" } } }, "g");
  const server = pauseEvent({ tasks, checkpoint: { thread_id: "t", checkpoint_id: "c", checkpoint_ns: "" } }, "g");
  assert.deepEqual(library, server);
  assert.deepEqual(library, { thread_id: "t", checkpoint_id: "c", assistant_id: "g", interrupts: [{ id: "a", value: 2 }, { id: "b", value: 1 }] });
  assert.equal(pauseEvent({ tasks: [] }, "g"), undefined);
});

test("a refusal takes only ways that the graph knows", () => {
  const refuse = (value, message) => refusal([{ id: "i", value }], message)?.i;
  assert.deepEqual(refuse(asks("approve", "reject"), "no"), { decisions: [{ type: "reject", message: "no" }] });
  assert.deepEqual(refuse({ action_requests: [{ name: "s" }], review_configs: [{ action_name: "s", allowed_decisions: ["reject"] }] }), { decisions: [{ type: "reject" }] });
  assert.equal(refuse(asks("approve")), undefined);
  assert.deepEqual(refuse(inbox({ allow_ignore: true })), [{ type: "ignore", args: null }]);
  assert.deepEqual(refuse([inbox({ allow_respond: true }), inbox({ allow_ignore: true })], "no"), [{ type: "response", args: "no" }, { type: "ignore", args: null }]);
  assert.equal(refuse(inbox({ allow_respond: true })), undefined, "an answer in words needs words");
  assert.equal(refuse(inbox({ allow_accept: true }), "no"), undefined);
  assert.equal(refuse("Which customer?", "no"), undefined);
});

test("closed is closed", () => {
  assert.ok(["confirmed", "rejected", "cancelled", "not_executed"].every((state) => isClosed({ state })));
  assert.ok(!["draft", "pending_approval", "ready", "in_progress", "unknown", "review"].some((state) => isClosed({ state })));
});
