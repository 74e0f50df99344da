#!/bin/sh
# The official image listens without protected mode; Debian's package does not
if [ "$1" = redis-server ]; then
  shift
  set -- redis-server --protected-mode no "$@"
fi
exec "$@"
