# Resend and Slack as the npm package emulate plays them: keys, and messages with metadata.
node_modules emulate || skipped "the emulators cannot be installed here"
export HOLDPOINT_EMULATE=$cache/emulate/node_modules/.bin/emulate
peer_test ./systems/peers -run Emulator
