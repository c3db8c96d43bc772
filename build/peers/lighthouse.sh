# Pages against Lighthouse.
node_modules lighthouse || skipped "Lighthouse cannot be installed here"
export HOLDPOINT_LIGHTHOUSE=$cache/lighthouse/node_modules/lighthouse/cli/index.js
peer_test ./handlers -run Lighthouse
