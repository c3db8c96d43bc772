// Graphs that pause in the two forms in use. `ran` counts how often the node after the
// pause has run: the effect that must not be repeated.
import { Annotation, END, START, StateGraph, interrupt } from "@langchain/langgraph";

const State = Annotation.Root({ answer: Annotation(), ran: Annotation({ reducer: (a, b) => a + b, default: () => 0 }) });

const graph = (ask, act = async () => {}) => new StateGraph(State)
  .addNode("ask", () => ({ answer: interrupt(ask) }))
  .addNode("act", async () => { await act(); return { ran: 1 }; })
  .addEdge(START, "ask").addEdge("ask", "act").addEdge("act", END)
  .compile();

export const inbox = graph({
  action_request: { action: "send_email", args: { to: "ann@example.test", subject: "Your kettle" } },
  config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true },
  description: "The order is **paid**; a thank-you mail.",
});

const twoTools = {
  actionRequests: [
    { name: "send_email", args: { to: "ann@example.test" }, description: "Tool execution requires approval" },
    { name: "delete_draft", args: { id: "d-1" } },
  ],
  reviewConfigs: [
    { actionName: "send_email", allowedDecisions: ["approve", "edit", "reject"] },
    { actionName: "delete_draft", allowedDecisions: ["approve", "reject"] },
  ],
};
export const middleware = graph(twoTools);
export const slow = graph(twoTools, () => new Promise((done) => setTimeout(done, 2500)));
