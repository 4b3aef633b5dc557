# shellcheck shell=bash
# What the page of `samebit serve` is built with again, to prove that web/built is what web/src says: the packages of
# web/package-lock.json, in build/web. Sourced by ./check, after setup.sh. A build of samebit itself needs none of it.

ensure_page_tools() {
  local folder=$SAMEBIT_ROOT/build/web list=$SAMEBIT_ROOT/web/package-lock.json
  # The stamp is written last, so that a broken set-up is done again.
  if [ -f "$folder/stamp" ] && cmp -s "$list" "$folder/stamp"; then
    return
  fi
  say "installing what the page is built with (about 45 MiB)"
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$SAMEBIT_ROOT/web/package.json" "$list" "$folder/"
  run_logged page-tools "Check the network (npm's own settings count: .npmrc) and start again." \
    npm ci --prefix "$folder" --no-audit --no-fund --no-update-notifier
  cp "$list" "$folder/stamp"
}
