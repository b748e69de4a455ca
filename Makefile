# The targets that work on this program. Plain `go test ./...` is enough for daily work.

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 20s
SOAK     ?= 30m
RACE     ?= ./...

.PHONY: build dist dist-check nightly demo demo-delegates test race fuzz lint golden soak bench bench-check clauses

# One static binary. The version is given, not stamped, so that a clone which git distrusts builds too.
build:
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -X evener/internal/about.Version=$(VERSION)' -o bin/evener .

# What a release has, in DIST: static, stripped binaries, the completions of shells, the manual
# page, a bill of materials, licences and checksums. The modules are those of vendor/, nothing is
# fetched, and the same source and version give the same bytes, wherever and whenever they are built.
DIST      ?= dist
PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64
PURE       = CGO_ENABLED=0 GOFLAGS=-mod=vendor GOPROXY=off GOTOOLCHAIN=local GOWORK=off GOEXPERIMENT= GOAMD64=v1 GOARM64=v8.0
STAMP      = -ldflags '-s -w -buildid= -X evener/internal/about.Version=$(VERSION)'

dist:
	rm -rf $(DIST) && mkdir -p $(DIST)
	for p in $(PLATFORMS); do $(PURE) GOOS=$${p%/*} GOARCH=$${p#*/} \
		go build -trimpath -buildvcs=false $(STAMP) -o $(DIST)/evener-$${p%/*}-$${p#*/} . || exit 1; done
	for s in bash zsh fish; do $(PURE) go run $(STAMP) . completion $$s >$(DIST)/evener.$$s || exit 1; done
	$(PURE) go run $(STAMP) . help --man >$(DIST)/evener.1
	$(PURE) go run ./internal/dist -version '$(VERSION)' -goroot "$$(go env GOROOT)" $(DIST)

# Builds the release twice, in different folders and from nothing, and compares the bytes.
dist-check:
	.ci/dist-check

# Jobs, a SIGKILL, a resume, and three jq lines over the journals. No network.
demo: build
	go run ./internal/demo bin/evener

# The same of three delegates: one is steered, one does not fit its schema, one is lost and goes on.
demo-delegates: build
	go run ./internal/demo -delegates bin/evener

test:
	go test ./...

race:
	CGO_ENABLED=1 go test -race $(RACE)

# Every fuzz target for FUZZTIME each.
fuzz:
	@go list ./... | while read -r pkg; do \
		go test -list '^Fuzz' "$$pkg" | grep '^Fuzz' | while read -r name; do \
			echo "$$pkg $$name"; \
			go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) "$$pkg" || exit 1; \
		done || exit 1; \
	done

# What takes too long for every change: power cuts, hostile models, stops, kills, large journals, fuzzing,
# and the whole release twice. NIGHTFUZZ is for each fuzz target.
NIGHTFUZZ ?= 30m
nightly:
	EVENER_CUTS=500 go test -timeout 6h -count 1 -run 'TestPowerCut' .
	EVENER_SEEDS=200 go test -timeout 3h -count 1 -run 'TestHostileModel' .
	EVENER_STOPPED=1m go test -timeout 1h -count 1 -run 'TestStopped' .
	EVENER_TEST_LARGE=1 go test -timeout 1h -count 1 -run 'TestLarge' .
	JOURNAL_KILL_FOR=30m go test -timeout 1h -count 1 -run 'TestKilledAgainAndAgain|TestFullTmpfs' ./journal
	go test -timeout 3h -count 1 ./journal ./internal/tree -rapid.checks=100000
	$(MAKE) fuzz FUZZTIME=$(NIGHTFUZZ)
	$(MAKE) dist-check

# The linter is pinned in a module of its own, so that the program's go.mod stays the program's.
lint:
	@unformatted=$$(find . -name '*.go' -not -path './vendor/*' -not -path './.git/*' -exec gofmt -l {} +); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	@go -C .ci/tools build -mod=readonly -buildvcs=false -o ../../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...

# Rewrites what tests compare with. Commit it only when the difference is understood.
golden:
	@grep -rl --include='*_test.go' --exclude-dir=vendor 'flag.Bool("update"' . | xargs -n1 dirname | sort -u | \
		while read -r dir; do go test "$$dir" -update || exit 1; done

# Random trees that are killed at random moments, for SOAK; nothing may be lost, told twice or left
# behind. What it found keeps its folder and its seed.
soak: build
	go run ./internal/soak -for $(SOAK) bin/evener

# Measured numbers beside their limits, from a module of its own with the peers.
bench:
	go -C internal/bench run .

# The same, held against the table of docs/performance.md: a ratio that is worse by a third fails.
bench-check:
	go -C internal/bench test .
	go -C internal/bench run . -check ../../docs/performance.md

# Which clauses of the contract a test proves.
clauses:
	go run ./internal/clauses
