#!/usr/bin/env bash
# Starts the whole of Holdpoint on this machine: private PostgreSQL, demo flows,
# sandbox, server and jobs. Ctrl-C stops all of it. RESET=1 begins with no data.
set -euo pipefail
cd "$(dirname "$0")/.."

export HOLDPOINT_ADDR=${HOLDPOINT_ADDR:-127.0.0.1:7300}
export HOLDPOINT_METRICS_ADDR=${HOLDPOINT_METRICS_ADDR:-127.0.0.1:7390}
export SANDBOX_ADDR=${SANDBOX_ADDR:-127.0.0.1:7400}
export SANDBOX_SMTP_ADDR=${SANDBOX_SMTP_ADDR:-127.0.0.1:7425}
export HOLDPOINT_DATA=${HOLDPOINT_DATA:-.data}
# Notices go by mail to the sandbox, which shows them; set another server, or an empty one.
export HOLDPOINT_SMTP_URL="${HOLDPOINT_SMTP_URL-smtp://$SANDBOX_SMTP_ADDR?starttls=off}"
export HOLDPOINT_MAIL_FROM="${HOLDPOINT_MAIL_FROM-${HOLDPOINT_SMTP_URL:+Holdpoint <holdpoint@example.test>}}"

# in_use ADDRESS: does something answer there?
in_use() {
  local host=${1%:*} port=${1##*:}
  case $host in '' | 0.0.0.0 | '[::]') host=127.0.0.1 ;; esac
  (exec 3<>"/dev/tcp/${host//[\[\]]/}/$port") 2>/dev/null
}

check_ports() {
  local name taken=()
  for name in HOLDPOINT_ADDR HOLDPOINT_METRICS_ADDR SANDBOX_ADDR SANDBOX_SMTP_ADDR; do
    if in_use "${!name}"; then
      taken+=("$name=${!name}")
    fi
  done
  [ ${#taken[@]} -eq 0 ] && return
  echo "In use by another program: ${taken[*]}. Choose other addresses: make run ${taken[0]%:*}:PORT …" >&2
  exit 1
}

# reset removes the data of this folder, and only what Holdpoint made.
reset() {
  if [ -n "${DATABASE_URL:-}" ]; then
    echo "RESET=1 removes the private database only; DATABASE_URL names another one." >&2
    exit 1
  fi
  if [ -e "$HOLDPOINT_DATA" ] && [ ! -e "$HOLDPOINT_DATA/.holdpoint" ]; then
    echo "RESET=1: $HOLDPOINT_DATA was not made by Holdpoint and stays as it is." >&2
    exit 1
  fi
  bin/pgctl remove "$HOLDPOINT_DATA"
  rm -rf -- "$HOLDPOINT_DATA"
}

# await PID: its exit code, also when signals interrupt the wait.
await() {
  local code
  while :; do
    interrupted=0
    wait "$1" && code=0 || code=$?
    [ $interrupted = 1 ] || return "$code"
  done
}

build/setup.sh go postgresql
check_ports
echo "Building; the first time takes minutes …"
go build -o bin/ ./cmd/holdpoint ./cmd/sandbox ./store/pglocal/pgctl
if [ "${RESET:-}" = 1 ]; then
  reset
fi
mkdir -p "$HOLDPOINT_DATA"
touch "$HOLDPOINT_DATA/.holdpoint"

serve='' sandbox='' asked='' interrupted=0
# The first signal asks the server to stop; one that comes two seconds later or
# more is an order. (make and the terminal may each deliver the same request.)
on_signal() {
  interrupted=1
  local signal=TERM
  [ -z "$asked" ] || [ $((SECONDS - asked)) -lt 2 ] || signal=KILL
  asked=${asked:-$SECONDS}
  [ -z "$serve" ] || kill -$signal "$serve" 2>/dev/null || true
}
finish() {
  local pid
  for pid in $serve $sandbox; do
    kill -TERM "$pid" 2>/dev/null || continue
    await "$pid" || true
  done
}
trap on_signal INT TERM HUP
trap finish EXIT

# Own process groups: Ctrl-C reaches this script alone, which stops the server
# before the sandbox it may still be talking to.
set -m
: >"$HOLDPOINT_DATA/sandbox.ready"
bin/sandbox >"$HOLDPOINT_DATA/sandbox.ready" 2>"$HOLDPOINT_DATA/sandbox.log" </dev/null &
sandbox=$!
for _ in $(seq 200); do
  [ -s "$HOLDPOINT_DATA/sandbox.ready" ] && break
  if ! kill -0 "$sandbox" 2>/dev/null; then break; fi
  sleep 0.05
done
if [ ! -s "$HOLDPOINT_DATA/sandbox.ready" ]; then
  echo "The sandbox did not start:" >&2
  tail -n 5 "$HOLDPOINT_DATA/sandbox.log" >&2
  exit 1
fi
[ -z "$asked" ] || exit 130

bin/holdpoint serve --demo </dev/null &
serve=$!
set +m
code=0
await "$serve" || code=$?
serve=''
exit "$code"
