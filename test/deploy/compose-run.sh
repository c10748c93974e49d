#!/usr/bin/env bash
# Runs compose.yaml on this machine's Docker engine, and breaks it: the same `up` twice, a wrong setting, a migration
# that fails, kills, a full disk for backups, the replica. It needs ten minutes and root or sudo, and is meant for a
# machine without a venuewatch: it makes a project of its own, and removes it with its volumes.
#
#   test/deploy/compose-run.sh              COMPOSE_FILE adds files, as for `docker compose`; OFFLINE=1 expects no
#                                               samples
set -euo pipefail
cd "$(dirname "$0")/../.."

export COMPOSE_PROJECT_NAME=venuewatch-run
export WEB_PORT=${WEB_PORT:-18080} PROXY_PORT=${PROXY_PORT:-18090} PROMETHEUS_PORT=${PROMETHEUS_PORT:-19090}
export EDGE_SUBNET=${EDGE_SUBNET:-172.30.214.0/24}
sudo=$([ "$(id -u)" = 0 ] || echo sudo)
work=$(mktemp -d)

# a small disk of its own for backups, which can be filled
cat >"$work/backups.yaml" <<'YAML'
volumes:
  backups: { driver_opts: { type: tmpfs, device: tmpfs, o: "size=400m,mode=1777" } }
YAML
export COMPOSE_FILE=${COMPOSE_FILE:-compose.yaml}:$work/backups.yaml

finish() {
  code=$?
  if [ -e "$work/owner_password" ]; then mv -f "$work/owner_password" secrets/; fi
  if [ "$code" != 0 ]; then
    docker compose ps --all || true
    docker compose logs --tail 40 || true
  fi
  docker compose --profile '*' down --volumes --timeout 20 >/dev/null 2>&1 || true
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT

say() { printf '%s  %s\n' "$(date -u +%T)" "$*"; }
fail() { say "FAILED: $*"; exit 1; }
until_true() { # seconds, words, command
  local seconds=$1 words=$2
  shift 2
  for ((i = 0; i < seconds; i++)); do "$@" && return; sleep 1; done
  fail "expected within $seconds s: $words"
}
containers() { docker compose ps --all --quiet | sort; }
up() { docker compose up --detach --wait "$@" >"$work/up.log" 2>&1 || { cat "$work/up.log"; return 1; }; }
sql() { docker compose exec -T database psql -X -U postgres --no-align --tuples-only venuewatch --command="$1"; }
asked() { curl --silent --show-error --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$1$2" 2>/dev/null || true; }
answers() { [ "$(asked "$@")" = 200 ]; }
metric() { # service, port, name: the sum of its series
  docker compose exec -T "$1" node -e "
    fetch('http://127.0.0.1:$2/metrics').then((r) => r.text()).then((text) => console.log(
      text.split('\n').filter((line) => /^$3[{ ]/.test(line)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)))"
}
metric_is() { [ "$(metric "$1" "$2" "$3")" = "$4" ]; }
health_of() { docker inspect --format '{{.State.Health.Status}}' "$(docker compose ps --all --quiet "$1")"; }
is_healthy() { [ "$(health_of "$1")" = healthy ]; }
programs=(core-1 core-2 web probe-eu-central probe-ap-southeast probe-us-east)
alert_states() { curl --silent "http://127.0.0.1:$PROMETHEUS_PORT/api/v1/alerts"; }
alerts() { alert_states | grep -q "\"alertname\":\"$1\""; }

say "one service builds the image"
[ "$(docker compose --profile '*' config --format json | grep -c '"build": {')" = 1 ] || fail "not exactly one build"
make --silent secrets

say "the first start"
up --build
answers "$WEB_PORT" /healthz || fail "web does not answer"

say "the same command again recreates nothing"
before=$(containers)
up --build
up
[ "$(containers)" = "$before" ] || fail "containers were recreated"

say "doctor finds no fault of the installation"
docker compose exec -T core-1 venuewatch doctor --json >"$work/doctor.json" || true
docker compose exec -T core-1 node -e "
  const { findings } = JSON.parse(require('fs').readFileSync(0));
  const wrong = findings.filter(({ check, grade }) => grade === 'failure' &&
    ['settings', 'registry', 'open files', 'data directory', 'database', 'database clock', 'schema', 'rights'].includes(check));
  if (wrong.length > 0) { console.error(wrong); process.exit(1); }" <"$work/doctor.json" || fail "doctor"

say "a wrong setting is refused by the step, and changes nothing"
if LOG_LEVEL=verbose docker compose run --rm migrate >"$work/wrong.log" 2>&1; then fail "migrate accepted it"; fi
grep -q LOG_LEVEL "$work/wrong.log" || fail "migrate does not name the setting"
[ "$(containers)" = "$before" ] || fail "containers were changed"

say "a migration that fails leaves everything running"
mv secrets/owner_password "$work" && echo wrong >secrets/owner_password
if LOG_LEVEL=debug up >/dev/null; then fail "up does not report it"; fi
mv -f "$work/owner_password" secrets/owner_password
[ "$(containers)" != "$before" ] || fail "the programs were not recreated"
for service in "${programs[@]}" backup prometheus; do
  until_true 60 "$service is healthy" is_healthy "$service"
done
answers "$WEB_PORT" /v1/status || fail "web does not answer"
up

say "each program is killed, and comes back"
for service in "${programs[@]}" backup prometheus database; do
  id=$(docker compose ps --quiet "$service")
  $sudo kill -9 "$(docker inspect --format '{{.State.Pid}}' "$id")"
  until_true 90 "$service is healthy again" is_healthy "$service"
done
up
for probe in probe-eu-central probe-ap-southeast probe-us-east; do
  until_true 60 "samples of $probe are delivered" metric_is "$probe" 8083 venuewatch_probe_samples_waiting 0
  metric_is "$probe" 8083 venuewatch_probe_samples_lost_total 0 || fail "$probe has lost samples"
done
# without a way to the internet, no probe measures anything
measured() { [ "$(sql "select count(distinct region_id) from venuewatch.sample")" = 3 ]; }
[ -n "${OFFLINE:-}" ] || until_true 60 "samples of three regions" measured

say "a full disk for backups raises an alert, and loses nothing"
until_true 60 "core sees the base backup" docker compose exec -T core-1 sh -c 'ls /backups/base | grep -q Z'
# by the container with the most memory, to which a tmpfs is charged
docker compose exec -T database sh -c 'cat /dev/zero >/backups/filler' 2>/dev/null || true
sql "select pg_switch_wal()" >/dev/null
until_true 60 "core exports it" metric_is core-1 8081 venuewatch_wal_archive_failing 1
until_true 90 "WalArchiveFails is pending" alerts WalArchiveFails
docker compose exec -T database rm /backups/filler
until_true 120 "the archive continues" metric_is core-1 8081 venuewatch_wal_archive_failing 0

say "the replica is killed: the proxy uses the other program"
export COMPOSE_PROFILES=replicated
up
until_true 60 "the proxy answers" answers "$PROXY_PORT" /v1/status
$sudo kill -9 "$(docker inspect --format '{{.State.Pid}}' "$(docker compose ps --quiet replica)")"
bad=0
for ((i = 0; i < 200; i++)); do answers "$PROXY_PORT" /v1/status || bad=$((bad + 1)); done
say "$bad of 200 requests were not answered"
[ "$bad" -le 10 ] || fail "too many"
until_true 90 "the replica is healthy again" is_healthy replica

say "passed"
