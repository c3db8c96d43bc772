// node test/child.js THREAD [die]: runs a thread to its end in a process of its own. With
// "die" it is killed when the task exists and nobody has been told.
import { writeSync } from "node:fs";

import { campaign, createTask, runToEnd } from "../graph.js";
import { client, order, saver } from "./world.js";

const [thread, die] = process.argv.slice(2);
const checkpointer = await saver();
const act = async (permit, signal) => {
  const report = await createTask(permit, signal);
  if (die) process.kill(process.pid, "SIGKILL");
  return report;
};
const values = await runToEnd(campaign({ client, checkpointer, patience: 200, act }), client, thread, order(thread));
writeSync(1, JSON.stringify(values));
await checkpointer.end();
