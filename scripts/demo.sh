#!/usr/bin/env bash
# The demo: record a program over a real tree (this project's own sources), move
# the tree away, and replay the run from its log alone.
set -euo pipefail
cd "$(dirname "$0")/.."
gcrun=$PWD/bin/gcrun
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '\n$ %s\n' "$*"; }

mkdir "$work/tree"
cp -R coreform effects gclog fspolicy spec "$work/tree/"
cp examples/treesum/treesum.gc "$work/"
cd "$work"

say gcrun record treesum.gc --allow io/fs=./tree --allow io/console::write
"$gcrun" record treesum.gc --allow io/fs=./tree --allow io/console::write --value recorded.txt >manifest.txt 2>record.txt
head -n 3 manifest.txt
echo "… $(wc -l <manifest.txt) lines"
cat record.txt

say mv tree elsewhere
mv tree elsewhere

say gcrun replay treesum.gclog --show-output
"$gcrun" replay treesum.gclog --show-output >replayed.txt 2>replay.txt
head -n 3 replayed.txt
echo "… $(wc -l <replayed.txt) lines"
cat replay.txt

cmp manifest.txt replayed.txt
root_recorded=$(sed -n 's/^root //p' record.txt)
root_replayed=$(sed -n 's/^root //p' replay.txt)
[ -n "$root_recorded" ] && [ "$root_recorded" = "$root_replayed" ]
printf '\nThe same manifest and the same root, with the files gone. The final value:\n'
cat recorded.txt
