#!/usr/bin/env bash
# Prints the Go files of the project, tracked or new, without those of testdata
# folders, which may be badly formatted on purpose.
set -euo pipefail
cd "$(dirname "$0")/.."

find . -name .git -prune -o -name testdata -prune -o -name bin -prune -o -name '*.go' -type f -print | LC_ALL=C sort
