# shellcheck shell=bash
# The clients that tests/clients tries against the server, and what tests/server reads its documents with (schemathesis,
# prometheus_client): Python environments in build/clients and build/clients-lm-eval with pinned packages, and a folder of
# node modules in build/clients-js. Sourced by ./check, after setup.sh.

# ensure_python_clients NAME LIST WHAT: build/NAME holds what tests/clients/LIST pins. WHAT: for people.
ensure_python_clients() {
  local folder=$SAMEBIT_ROOT/build/$1 list=$SAMEBIT_ROOT/tests/clients/$2
  # The stamp is written last, so that a broken set-up is done again.
  if [ -f "$folder/stamp" ] && cmp -s "$list" "$folder/stamp"; then
    return
  fi
  say "installing $3"
  rm -rf "$folder"
  run_logged "$1-environment" "Debian has it in python3-venv." python3 -m venv "$folder"
  run_logged "$1" "Check the network (pip's own settings count: PIP_INDEX_URL, pip.conf) and start again." \
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
  ensure_python_clients clients requirements.txt "the Python clients of tests/clients and tests/server (about 150 MiB)"
  ensure_python_clients clients-lm-eval lm_eval_requirements.txt "lm_eval, one more client of tests/clients (about 530 MiB)"
  ensure_javascript_clients
}
