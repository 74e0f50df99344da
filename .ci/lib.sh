# What the scripts beside it share

export DOCKER_BUILDKIT=0 COMPOSE_DOCKER_CLI_BUILD=0 # Debian's Docker has no buildx

# until_true SECONDS COMMAND...
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    if [ "$SECONDS" -ge "$deadline" ]; then return 1; fi
    sleep 0.5
  done
}

# is_healthy CONTAINER
is_healthy() {
  [ "$(docker inspect --format '{{.State.Health.Status}}' "$1")" = healthy ]
}

# request METHOD URL [BODY], with $key: the response's body on standard output; fails unless the status is 2xx
request() {
  curl --silent --show-error --fail --max-time 10 --request "$1" "$2" \
    --header "Authorization: Bearer $key" ${3:+--header 'Content-Type: application/json' --data "$3"}
}
