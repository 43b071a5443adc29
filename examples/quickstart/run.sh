#!/bin/sh
# Fires the hooks of this folder on two events that a real agent sent.
cd "$(dirname "$0")/../.." || exit

cargo build --quiet --package tenter-cli || exit
tenter=${CARGO_TARGET_DIR:-target}/debug/tenter
quickstart=examples/quickstart

fire() {
  printf '\n$ tenter fire --project %s --config %s/hooks.toml --event-file %s/events/%s\n' \
    $quickstart $quickstart $quickstart "$1"
  "$tenter" fire --project $quickstart --config $quickstart/hooks.toml --event-file "$quickstart/events/$1"
  status=$?
  printf 'exit status %s (%s)\n' $status "$2"
  [ $status -eq "$3" ]
}

fire edit.json "denied" 2 && fire bash.json "may proceed, with the rewritten input" 0
