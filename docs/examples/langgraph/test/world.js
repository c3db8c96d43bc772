// What the tests share: a server, a sandbox and a door through which people decide. Their
// addresses come from the environment; see jobs/peers/graphs.
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { Client } from "holdpoint-client";

const { HOLDPOINT_URL, HOLDPOINT_TOKEN, CONTROL_URL, SANDBOX_URL, CHECKPOINT_URL } = process.env;

export const client = new Client(HOLDPOINT_URL ?? "", HOLDPOINT_TOKEN ?? "");

/** A checkpointer on the test's PostgreSQL, in a schema of its own. */
export async function saver() {
  const s = PostgresSaver.fromConnString(CHECKPOINT_URL, { schema: "langgraph" });
  await s.setup();
  return s;
}

export async function control(path) {
  const answer = await fetch(CONTROL_URL + path, { method: "POST" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}
export const approve = (operation) => control(`/approve/${operation}`);

/** Orders one misbehaviour of a destination. */
export async function fault(destination, name) {
  const answer = await fetch(`${SANDBOX_URL}/_control/faults`, { method: "POST", body: JSON.stringify({ destination, fault: name }) });
  if (!answer.ok) throw new Error(await answer.text());
}

/** How many effects of an operation really exist at a destination. */
export async function effects(destination, operation) {
  const answer = await fetch(`${SANDBOX_URL}/_control/ledger?destination=${destination}&reference=${operation}`);
  return (await answer.json()).effects.length;
}

/** Waits until look gives something. */
export async function until(what, look, ms = 30_000) {
  for (const end = Date.now() + ms; ; ) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((r) => setTimeout(r, 50));
  }
}

/** The order of a thread. */
export const order = (id) => ({ order: { id, email: `${id}@example.test`, product: "kettle", due: "2027-01-15T09:00:00Z" } });
