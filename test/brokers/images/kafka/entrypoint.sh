#!/usr/bin/env bash
# entrypoint.sh LIBS: starts Kafka by the conventions of the official apache/kafka image, so that tests and the compose
# file run on either. KAFKA_A_B=x becomes a.b=x, the storage is formatted on the first start, and the broker takes the
# place of this process, so that signals reach it.
set -euo pipefail

libs=$1
here=$(dirname "$(readlink -f "$0")")
data=${KAFKA_LOG_DIRS:?the folder of the data}
config=${data%/*}/server.properties
mkdir -p "$data"
java=(java -Dlog4j2.configurationFile="$here/log4j2.properties" -cp "$libs/*")

for name in "${!KAFKA_@}"; do
  case $name in
    KAFKA_HEAP_OPTS | KAFKA_OPTS | KAFKA_JVM_PERFORMANCE_OPTS | KAFKA_LOG4J_*) continue ;;
  esac
  # one underscore is a dot, two are an underscore, three a hyphen
  key=$(tr '[:upper:]_' '[:lower:].' <<< "${name#KAFKA_}")
  key=${key//.../-} key=${key//../_}
  printf '%s=%s\n' "$key" "${!name}"
done > "$config"

if [ ! -e "$data/meta.properties" ]; then
  "${java[@]}" kafka.tools.StorageTool format --ignore-formatted \
    --cluster-id "${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}" --config "$config" > /dev/null
fi

# shellcheck disable=SC2086 # options are words
exec "${java[@]}" ${KAFKA_HEAP_OPTS:--Xmx512m} ${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseSerialGC} ${KAFKA_OPTS:-} \
  kafka.Kafka "$config"
