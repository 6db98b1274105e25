#!/bin/sh
# What a run cannot do without: the agent, and the calls of git that a run makes, in their order.
#
#   floor.sh head|merge-to-head AGENT
#
# It does the same work and none of the care: nothing is locked, looked at twice, switched off, logged or kept.
set -e
strategy=$1
agent=$2
root=$PWD

refs='%(HEAD)%(objectname) %(refname)'
git rev-parse --path-format=absolute --git-dir --git-common-dir --show-toplevel >/dev/null
base=$(git rev-parse HEAD)
git config --list -z --show-scope >/dev/null

if [ "$strategy" = merge-to-head ]; then
  branch=sandcastle/$(date +%Y%m%d-%H%M%S)-$$
  worktree=$root/.sandcastle/worktrees/$$
  git worktree list --porcelain -z >/dev/null
  git update-ref --create-reflog "refs/heads/$branch" "$base"
  git worktree add --quiet --no-checkout -- "$worktree" "$branch"
  cd "$worktree"
  git read-tree --reset -u HEAD
fi

git for-each-ref --format="$refs" >/dev/null
git for-each-ref --format='%(refname) %(objectname)' refs/replace >/dev/null
echo Work. | "$agent" >/dev/null
git for-each-ref --format='%(refname) %(objectname)' refs/replace >/dev/null
git for-each-ref --format="$refs" >/dev/null
git rev-list --reverse --topo-order --no-commit-header --format='%H %s' "$base..HEAD" >/dev/null

if [ "$strategy" = merge-to-head ]; then
  read -r tip <"$root/.git/refs/heads/$branch"
  cd "$root"
  git for-each-ref --format='%(objectname) %(refname) %(symref)' refs/heads/main >/dev/null
  echo "$tip" | git cat-file --batch-check='%(objectname) %(objecttype)' >/dev/null
  git merge-base "$base" "$tip" >/dev/null
  git worktree list --porcelain -z >/dev/null
  git merge --quiet --ff-only --no-stat --no-autostash "$tip"
  git rev-parse --verify --quiet refs/heads/main >/dev/null
  git -C "$worktree" status --porcelain=v2 --branch --no-ahead-behind -z >/dev/null
  git -C "$worktree" ls-files --stage -v -z >/dev/null
  git worktree remove --force -- "$worktree"
  git rev-list --max-count=1 "$tip" --not --exclude="refs/heads/$branch" --all >/dev/null
  git update-ref -d "refs/heads/$branch" "$tip"
fi
