# shellcheck shell=bash
# The clients that tests/clients tries against the server, and what tests/server reads its documents with (schemathesis,
# prometheus_client): a Python environment in build/clients with pinned packages.
# Sourced by ./check, after setup.sh.

ensure_clients() {
  local folder=$SAMEBIT_ROOT/build/clients list=$SAMEBIT_ROOT/tests/clients/requirements.txt
  # The stamp is written last, so that a broken set-up is done again.
  if [ -f "$folder/stamp" ] && cmp -s "$list" "$folder/stamp"; then
    return
  fi
  say "installing the clients of tests/clients and tests/server (about 130 MiB)"
  rm -rf "$folder"
  run_logged clients-environment "Debian has it in python3-venv." python3 -m venv "$folder"
  run_logged clients "Check the network (pip's own settings count: PIP_INDEX_URL, pip.conf) and start again." \
    "$folder/bin/python" -m pip install --disable-pip-version-check --progress-bar off --only-binary :all: --no-deps \
    -r "$list"
  cp "$list" "$folder/stamp"
}
