#!/bin/sh
# Denies changes to files that are generated from others. The event is one line of JSON on stdin.
event=$(cat)
case $event in
  *'"file_path":"'*'/seed.txt"'*)
    echo "seed.txt is generated. Change seed.in and run make." >&2
    exit 2
    ;;
esac
