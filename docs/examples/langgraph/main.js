// node main.js ORDER: runs the campaign for one order, or goes on with it.
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { Client } from "holdpoint-client";

import { campaign, runToEnd } from "./graph.js";

const order = process.argv[2] ?? "1001";
const client = new Client(process.env.HOLDPOINT_URL ?? "http://127.0.0.1:7300", process.env.HOLDPOINT_TOKEN ?? "");
const checkpointer = PostgresSaver.fromConnString(process.env.CHECKPOINT_URL ?? "", { schema: "langgraph" });
await checkpointer.setup();
const graph = campaign({ client, checkpointer });
console.log(`thread campaign-${order}: approve its task and its mail in Holdpoint`);
const input = { order: { id: order, email: "customer@example.test", product: "kettle", due: "2027-01-15T09:00:00Z" } };
console.log(await runToEnd(graph, client, `campaign-${order}`, input));
await checkpointer.end();
