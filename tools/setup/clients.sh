# shellcheck shell=bash
# The clients that tests/clients tries against the server, and what tests/server reads its documents with (schemathesis,
# prometheus_client): a Python environment in build/clients with pinned packages, and a folder of node modules in
# build/clients-js. Sourced by ./check, after setup.sh.

ensure_python_clients() {
  local folder=$SAMEBIT_ROOT/build/clients list=$SAMEBIT_ROOT/tests/clients/requirements.txt
  # The stamp is written last, so that a broken set-up is done again.
  if [ -f "$folder/stamp" ] && cmp -s "$list" "$folder/stamp"; then
    return
  fi
  say "installing the Python clients of tests/clients and tests/server (about 150 MiB)"
  rm -rf "$folder"
  run_logged clients-environment "Debian has it in python3-venv." python3 -m venv "$folder"
  run_logged clients "Check the network (pip's own settings count: PIP_INDEX_URL, pip.conf) and start again." \
    "$folder/bin/python" -m pip install --disable-pip-version-check --progress-bar off --only-binary :all: --no-deps \
    -r "$list"
  cp "$list" "$folder/stamp"
}

ensure_javascript_clients() {
  local folder=$SAMEBIT_ROOT/build/clients-js list=$SAMEBIT_ROOT/tests/clients/javascript
  if [ -f "$folder/stamp" ] && cmp -s "$list/package-lock.json" "$folder/stamp"; then
    return
  fi
  say "installing the JavaScript client of tests/clients (about 4 MiB)"
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$list/package.json" "$list/package-lock.json" "$folder/"
  run_logged clients-js "Check the network (npm's own settings count: npm_config_registry, .npmrc) and start again." \
    npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts
  cp "$list/package-lock.json" "$folder/stamp"
}

ensure_clients() {
  ensure_python_clients
  ensure_javascript_clients
}
