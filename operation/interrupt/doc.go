// Package interrupt reads what a LangGraph graph asks of people when it pauses, and writes
// the value that lets it go on. Two forms are in use and both are understood: the Agent
// Inbox's HumanInterrupt and the one of LangChain's human-in-the-loop middleware, the
// latter in camelCase and in snake_case. Anything else is a question in free form.
//
// The package is pure. Values are JSON as encoding/json decodes it into any.
package interrupt
