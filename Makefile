# Machines often start on an older Go; with this the go command fetches the one
# whose Unicode tables the path rules need (see RATIONALE.md).
export GOTOOLCHAIN = go1.27.3

# Version stamping only where git can answer, so that a build from an archive or
# from somebody else's clone works too.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo true || echo false)

FUZZTIME ?= 10s
BENCH ?= .
BENCHCOUNT ?= 1

.PHONY: build demo test check bench bench-vs fuzz fmt clean

build: ## bin/gcrun, static
	CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -o bin/gcrun ./cmd/gcrun

demo: build ## record a real program, take its files away, replay from the log
	./scripts/demo.sh

test: ## the whole suite
	go test ./...

check: ## everything a change must pass; fails if it changed files
	./scripts/check.sh

bench:
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) ./...

bench-vs: ## the evaluator beside go.starlark.net, in one run
	cd internal/bench && go run .

fuzz: ## every native fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) ./scripts/fuzz.sh

fmt:
	gofmt -w $$(./scripts/gofiles.sh)

clean:
	rm -rf bin
