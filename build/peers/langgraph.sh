# Graphs of the real LangGraph (docs/examples/langgraph) whose nodes run again, and the
# LangGraph server as the destination of the profile langgraph.
place=$cache/graphs
mkdir -p "$place/docs/examples/langgraph" "$place/clients"
find "$place/docs/examples/langgraph" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
rm -rf "$place/clients/js"
cp -r docs/examples/langgraph/. "$place/docs/examples/langgraph/"
cp -r clients/js "$place/clients/"
npm ci --prefix "$place/docs/examples/langgraph" --ignore-scripts --no-audit --no-fund --silent || skipped "LangGraph cannot be installed here"
export HOLDPOINT_GRAPHS=$place/docs/examples/langgraph
peer_test ./jobs/peers/graphs -run FC19

node_modules langgraph || skipped "the LangGraph server cannot be installed here"
cp build/peers/langgraph/graphs.mjs build/peers/langgraph/langgraph.json "$cache/langgraph/"
export HOLDPOINT_LANGGRAPH=$cache/langgraph
peer_test ./jobs/peers/graphs -run ServerResume
