#!/usr/bin/env bash
# Makes a build that is only a proposal, to be measured beside the present one: npm run bench -- latency --beside <directory>.
#   one-queue       the service on packages/queue, without board, metrics of the queue, resharding and migration (ADR 21)
#   packed-records  settled deliveries with their attempts packed into the record, and endpoints' logs folded
# A proposal goes from here when it is taken over, or dropped.
# Usage: bench/builds/build.sh one-queue|packed-records <directory, which must not exist>
set -euo pipefail
name=${1:?"say which: bench/builds/build.sh one-queue|packed-records <directory>"}
directory=${2:?"say where: bench/builds/build.sh $name <directory>"}
cd "$(dirname "$0")/../.."
patch=bench/builds/$name.patch
removed=bench/builds/$name.removed.txt
# What the patch was made for, whatever has changed since.
base=$(git log -1 --format=%H -- "$patch")
git worktree add --detach "$directory" "$base"
cd "$directory"
npm ci
git apply "$patch"
if [ -f "$removed" ]; then xargs rm -- <"$removed"; fi
npm run --silent build
echo "The build is in $directory. Remove it with: git worktree remove --force $directory"
