#!/bin/sh
# `pipx run proofhouse` and `uvx proofhouse` start the program that is called as the package is.
exec "$(dirname "$0")/proof" "$@"
