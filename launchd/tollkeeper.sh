#!/bin/sh
# Starts the daemon for launchd. `tollkeeper service install` copies this file to
# ~/Library/Application Support/tollkeeper/tollkeeper: macOS lists a service by the name of the file that it starts.
#
# Arguments: the file to which launchd appends what Node prints, and the command to run. launchd never rotates that file, and
# where Node cannot run the program, it grows with every attempt. So a large one is moved away first, even if everything after
# that fails. 128 blocks are 64 KiB.
log=$1
shift
if [ -n "$(find "$log" -size +128 2>/dev/null)" ]; then
  mv -f "$log" "$log.1"
fi
exec "$@"
