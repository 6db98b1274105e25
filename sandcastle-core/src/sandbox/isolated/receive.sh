# Brings a work tree to a state that comes as a bundle on the standard input, and makes its repository if there is none.
#
#   $1 the folder   $2 the format of objects   $3 what is to be checked out: a full name of a branch, or a commit
#   $4 the commit of the files that are there, or nothing   $5 the commit of the files that are to be there
#   $6 the commit of what is to be staged, or nothing   $7 the commit that is to be checked out, or nothing
set -e
folder=$1 format=$2 head=$3 there=$4 files=$5 staged=$6 commit=$7
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
export GIT_TERMINAL_PROMPT=0 LC_ALL=C
if [ ! -e "$folder/.git" ]; then
  mkdir -p "$folder"
  if [ -n "$(ls -A "$folder")" ]; then
    echo "the folder $folder is not empty" >&2
    exit 1
  fi
  if [ "$format" = sha1 ]; then git init -q "$folder"; else git init -q --object-format="$format" "$folder"; fi
fi
cd "$folder"
git config gc.auto 0
bundle=.git/sandcastle.bundle
cat >"$bundle"
if [ -s "$bundle" ]; then
  git bundle unbundle "$bundle" | while read -r id name; do
    case $name in
      refs/sandcastle/*) ;;
      *) git update-ref "$name" "$id" ;;
    esac
  done
fi
rm -f "$bundle"
case $head in
  refs/*)
    git symbolic-ref HEAD "$head"
    # A bundle has no branch in it that was put back to a commit which is here.
    [ -z "$commit" ] || git update-ref "$head" "$commit"
    ;;
  *) git update-ref --no-deref HEAD "$head" ;;
esac
if [ -n "$there" ]; then
  git read-tree "$there"
  git update-index -q --refresh || :
  git read-tree -m -u "$there" "$files"
else
  git read-tree --reset -u "$files"
fi
if [ -n "$staged" ]; then git read-tree "$staged"; else git read-tree --empty; fi
git update-index -q --refresh || :
