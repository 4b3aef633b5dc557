# shellcheck shell=bash
# The set-up that ./try and ./check share. Sourced by them; defines functions and does nothing by itself.
# Each step looks before it acts, so that a second run costs about a second and needs neither root nor a network.

SAMEBIT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
SAMEBIT_BUILD=$SAMEBIT_ROOT/build/release
SAMEBIT_LOGS=$SAMEBIT_ROOT/build/setup
# One place for the version: the crates in src/text/rust need this cargo or a newer one.
CARGO_MINOR_MIN=87

# shellcheck source=tools/setup/models.sh
source "$SAMEBIT_ROOT/tools/setup/models.sh"

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

# fail SENTENCE...: one sentence per argument, the last one says what to do.
fail() {
  printf '\nsamebit set-up stopped: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 3
}

heartbeat_pid=
# By a signal that no trap answers: a child that has not put off this shell's traps yet would clean up in its place.
stop_heartbeat() {
  if [ -n "$heartbeat_pid" ]; then
    kill -KILL "$heartbeat_pid" 2>/dev/null || true
    wait "$heartbeat_pid" 2>/dev/null || true
    heartbeat_pid=
  fi
}

clean_up() {
  stop_heartbeat
  remove_model_downloads
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# run_logged NAME HINT COMMAND...: runs the command with its output in build/setup/NAME.log, and says every 20 seconds
# where it stands. The command stays in the foreground, so that Ctrl-C reaches it. On failure: the end of the log.
run_logged() {
  local name=$1 hint=$2 log=$SAMEBIT_LOGS/$1.log
  shift 2
  : >"$log"
  # In pieces of one second, so that nothing sleeps on after the script has ended.
  (
    ticks=0
    while sleep 1; do
      ticks=$((ticks + 1))
      [ $((ticks % 20)) -ne 0 ] || say "  $name: $(tail -n 1 "$log" | tr -d '\r' | cut -c1-90)"
    done
  ) 9>&- &
  heartbeat_pid=$!
  local status=0
  "$@" >"$log" 2>&1 </dev/null || status=$?
  stop_heartbeat
  if [ "$status" -ne 0 ]; then
    tail -n 25 "$log" >&2
    fail "'$name' ended with exit code $status." "Its whole output is in $log." "$hint"
  fi
}

# Only one set-up at a time in one tree: two ninjas in one build folder would spoil each other's work.
lock_setup() {
  mkdir -p "$SAMEBIT_LOGS"
  exec 9>"$SAMEBIT_LOGS/lock"
  if ! flock -n 9; then
    say "another ./try or ./check works in this tree; waiting for it"
    flock 9
  fi
}
unlock_setup() { exec 9>&-; }

# missing_packages GROUP...: prints the packages of the groups that are not installed, one a line.
missing_packages() {
  local line group='' package probe wanted=" $* " listed=() probes=()
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%%#*}
    if [[ $line =~ ^\[([a-z]+)\] ]]; then
      group=${BASH_REMATCH[1]}
      continue
    fi
    IFS='|' read -r package probe <<<"$line"
    package=${package//[[:space:]]/}
    if [ -n "$package" ] && [[ $wanted == *" $group "* ]]; then
      listed+=("$package")
      probes+=("$probe")
    fi
  done <"$SAMEBIT_ROOT/tools/setup/packages.txt"

  local installed index
  # dpkg-query fails when it does not know one of the names; what it prints about the others still counts.
  installed=$(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' "${listed[@]}" 2>/dev/null || true)
  for index in "${!listed[@]}"; do
    package=${listed[$index]}
    probe=${probes[$index]}
    if grep -qE "^${package//+/\\+}(:[a-z0-9]+)? installed\$" <<<"$installed"; then
      continue
    fi
    if [[ $probe == *[![:space:]]* ]] && bash -c "$probe" >/dev/null 2>&1; then
      continue
    fi
    printf '%s\n' "$package"
  done
}

# install_packages GROUP...: installs what is missing of the groups, as root or through sudo.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "no dpkg here: taking it that the packages in tools/setup/packages.txt are installed under your system's names"
    return
  fi
  local missing=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    # With a terminal sudo may ask for the password; without one it must not.
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
      say "sudo may ask for your password, to install: ${missing[*]}"
      sudo -v || fail "sudo did not let this user install packages." \
        "As root, run: apt-get install -y --no-install-recommends ${missing[*]}"
    else
      fail "packages are missing and this user is neither root nor allowed to use sudo." \
        "As root, run: apt-get install -y --no-install-recommends ${missing[*]}" \
        "Then start this script again."
    fi
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  run_logged packages-update "Check the network and the sources in /etc/apt." \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update
  run_logged packages "Debian 12 (bookworm) has every package of tools/setup/packages.txt; see the log for the one that failed." \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
    install -y --no-install-recommends "${missing[@]}"
}

# Prints the path of a cargo that is new enough, or nothing. An installed one wins over Debian's.
find_cargo() {
  local candidate version
  for candidate in "${SAMEBIT_CARGO:-}" "$(command -v cargo || true)" "${CARGO_HOME:-${HOME:-/root}/.cargo}/bin/cargo" \
    /usr/bin/cargo; do
    [ -x "$candidate" ] || continue
    # A rustup shim without a tool chain exists and fails: ask it.
    version=$("$candidate" --version 2>/dev/null) || continue
    if [[ $version =~ ^cargo\ ([0-9]+)\.([0-9]+) ]] &&
      { [ "${BASH_REMATCH[1]}" -gt 1 ] || [ "${BASH_REMATCH[2]}" -ge "$CARGO_MINOR_MIN" ]; }; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}

# Sets CARGO_FOUND; installs Debian's newer Rust when there is none.
ensure_cargo() {
  CARGO_FOUND=$(find_cargo)
  [ -z "$CARGO_FOUND" ] || return 0
  say "no cargo >= 1.$CARGO_MINOR_MIN found; taking Debian's cargo-web"
  install_packages rust
  CARGO_FOUND=$(find_cargo)
  [ -n "$CARGO_FOUND" ] || fail "there is still no cargo >= 1.$CARGO_MINOR_MIN." \
    "Install a newer Rust (for instance with rustup) and start again, or set SAMEBIT_CARGO to the path of its cargo."
}

build_jobs() {
  local processors
  processors=$(nproc)
  printf '%s\n' "${SAMEBIT_JOBS:-$((processors < 8 ? processors : 8))}"
}

# build_release [TARGET...]: configures build/release and builds the targets; without targets, everything.
# shellcheck disable=SC2120
build_release() {
  local cache=$SAMEBIT_BUILD/CMakeCache.txt
  # A tree that was moved or copied carries a cache which CMake refuses; it holds nothing that a build does not remake.
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$SAMEBIT_ROOT" "$cache"; then
    say "build/release was made for another folder; starting it anew"
    rm -rf "$SAMEBIT_BUILD"
  fi
  local build=(cmake --build "$SAMEBIT_BUILD" --parallel "$(build_jobs)") what=everything
  if [ $# -gt 0 ]; then
    build+=(--target "$@")
    what=$*
  fi
  # cargo calls the rustc that it finds first: it must be the one beside it, not an older one.
  local cargo_folder
  cargo_folder=$(dirname "$CARGO_FOUND")
  if [ "$(command -v rustc || true)" != "$cargo_folder/rustc" ]; then
    export PATH="$cargo_folder:$PATH"
  fi
  run_logged configure "If a package was not found, compare with tools/setup/packages.txt." \
    cmake -S "$SAMEBIT_ROOT" --preset release "-DSAMEBIT_CARGO=$CARGO_FOUND"
  say "building $what in build/release (the first time takes minutes; cargo fetches its crates)"
  run_logged build "If a download failed, check the network and start again: what is built stays built." "${build[@]}"
  say "built"
}
