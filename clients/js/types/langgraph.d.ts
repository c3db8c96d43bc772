/**
 * A key for one effect of a node: the same whenever the node runs again on its thread, from
 * whatever checkpoint, and another one for every other effect. Give what makes the effect
 * one of its kind in business terms (an order's number), never a time, a random number or
 * anything that the node makes while it runs.
 * @param {{configurable?: Record<string, any>}} config what the node is called with
 * @param {string} node
 * @param {...(string | number)} business
 */
export function effectKey(config: {
    configurable?: Record<string, any>;
}, node: string, ...business: (string | number)[]): string;
/**
 * The event of a pause, for a source made from systems/sources/langgraph.yaml, or undefined
 * when nothing waits for people. All interrupts pending at a checkpoint belong together.
 * @param {any} state what getState gave, of the library or of the LangGraph server
 * @param {string} assistant the assistant (or graph) with which the server resumes
 */
export function pauseEvent(state: any, assistant: string): {
    thread_id: any;
    checkpoint_id: any;
    assistant_id: string;
    interrupts: any;
} | undefined;
/**
 * What a graph goes on with when its people have said no: the resume value by interrupt,
 * or undefined when one of its interrupts knows no way to be refused. Nothing is released
 * by it.
 * @param {{id: string, value: any}[]} interrupts
 * @param {string} [message] for forms that take a reason
 * @returns {Record<string, unknown> | undefined}
 */
export function refusal(interrupts: {
    id: string;
    value: any;
}[], message?: string): Record<string, unknown> | undefined;
