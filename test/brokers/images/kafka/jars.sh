#!/usr/bin/env bash
# jars.sh DIR: fills DIR with the jars of pom.xml; nothing to do where it exists. Whole or not at all, also when two run.
set -euo pipefail
target=$1
[ -d "$target" ] && exit
part=$target.part.$$
trap 'rm -rf "$part"' EXIT
mvn --batch-mode --quiet --file "$(dirname "$(readlink -f "$0")")/pom.xml" \
  dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$part" < /dev/null
[ -d "$target" ] || mv "$part" "$target"
