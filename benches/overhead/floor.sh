#!/bin/sh
# What a run cannot do without: the agent, and the calls of git that a run makes.
#
#   floor.sh head|merge-to-head AGENT
set -e
strategy=$1
agent=$2

git rev-parse --absolute-git-dir --git-common-dir >/dev/null
git rev-parse --show-toplevel >/dev/null
git symbolic-ref --quiet --short HEAD >/dev/null
base=$(git rev-parse --quiet --verify HEAD)
echo Work. | "$agent" >/dev/null
git symbolic-ref --quiet --short HEAD >/dev/null
git rev-parse --quiet --verify HEAD >/dev/null
git log -z --reverse --topo-order --no-color --format='%H %s' "$base..HEAD" -- >/dev/null
