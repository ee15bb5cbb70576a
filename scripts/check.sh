#!/usr/bin/env bash
# The gate for every change: format, vet, staticcheck, tidy, race tests (slow ones
# included), builds for the other systems. Runs all steps and reports all that
# failed. The tree may be dirty to begin with, but the checks may not change it.
set -euo pipefail
cd "$(dirname "$0")/.."

# state prints a digest of everything git sees: what is staged or changed, and
# the content of new files.
state() {
	{
		git status --porcelain
		git diff --no-ext-diff --binary
		git diff --no-ext-diff --binary --cached
		git ls-files -z --others --exclude-standard | xargs -0 -r cksum
	} | cksum
}

have_git=false
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	have_git=true
	before=$(state)
fi

failed=()
step() {
	local name=$1
	shift
	echo "== $name"
	"$@" || failed+=("$name")
}

format() {
	local files
	files=$(./scripts/gofiles.sh | xargs gofmt -l)
	if [ -n "$files" ]; then
		echo "not formatted (make fmt does it):"
		echo "$files"
		return 1
	fi
}

cross() { # GOOS GOARCH
	CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go build ./...
}

step "format" format
step "vet" go vet ./...
step "staticcheck" go tool staticcheck ./...
step "tidy" go mod tidy -diff
step "race tests" env CGO_ENABLED=1 go test -race -timeout 40m ./...
step "build darwin/arm64" cross darwin arm64
step "build windows/amd64" cross windows amd64
step "build linux/386" cross linux 386

if $have_git; then
	if [ "$(state)" != "$before" ]; then
		echo "== the checks changed files:"
		git status --short
		failed+=("unchanged files")
	fi
else
	echo "== no git here: whether the checks changed files is not known"
fi

if [ ${#failed[@]} -gt 0 ]; then
	printf 'check: FAILED:'
	printf ' [%s]' "${failed[@]}"
	echo
	exit 1
fi
echo "check: ok"
