#!/usr/bin/env bash
# Runs every native fuzz target of the module, one after the other, each for
# FUZZTIME (default 10s). Fails when one finds something, or when there is none.
set -euo pipefail
cd "$(dirname "$0")/.."

fuzztime=${FUZZTIME:-10s}
count=0
# `go test -list` prints the names of a package and then "ok <package> <time>".
names=()
while read -r word package _; do
	case $word in
	Fuzz*) names+=("$word") ;;
	ok)
		for name in ${names[@]+"${names[@]}"}; do
			echo "== $package $name ($fuzztime)"
			go test -run '^$' -fuzz "^$name\$" -fuzztime "$fuzztime" "$package" </dev/null
			count=$((count + 1))
		done
		names=()
		;;
	FAIL)
		echo "fuzz: $package does not build" >&2
		exit 1
		;;
	esac
done < <(go test -list '^Fuzz' ./... 2>&1)

if [ "$count" -eq 0 ]; then
	echo "fuzz: no fuzz target found" >&2
	exit 1
fi
echo "fuzz: $count targets ran"
