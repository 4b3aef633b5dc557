#!/usr/bin/env python3
"""How long a model takes to be ready, beside llama.cpp: same file (in the page cache), interleaved rounds, best of each.

    peer/bin/python bench/load.py --model models/smollm2-135m-instruct-q4_1.gguf

llama.cpp (package xllamacpp) is timed from the start of its server to its being ready, without its warm-up run, once
with the file mapped and once read (then, as here, nothing is left to be loaded at the first token). samebit is timed by
itself: open, check, digest, tokenizer, self-test, packing; once more with its packed cache file. Prints JSON.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEER = """
import sys, time
import xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = int(sys.argv[2])
parameters.n_ctx, parameters.n_parallel, parameters.n_gpu_layers = 2048, 1, 0
parameters.warmup = False
parameters.verbosity = 0
parameters.load_mode = getattr(xllamacpp.llama_load_mode, "LLAMA_LOAD_MODE_" + sys.argv[3])
start = time.monotonic()
server = xllamacpp.Server(parameters)
print("SECONDS", time.monotonic() - start, flush=True)
"""


def peer(flags, mode):
    done = subprocess.run(
        [sys.executable, "-c", PEER, flags.model, str(flags.threads), mode], capture_output=True, text=True, check=True
    )
    return float(next(line for line in done.stdout.splitlines() if line.startswith("SECONDS")).split()[1])


def own(flags, *more):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [flags.samebit, "bench", flags.model, "--row", "prefill:8", "--repeat", "1"]
        command += ["--threads", str(flags.threads), "--json", out.name, *more]
        subprocess.run(command, capture_output=True, check=True)
        with open(out.name, encoding="utf-8") as file:
            found = json.load(file)
    return found["ready_seconds"], found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--samebit", default=os.path.join(ROOT, "build", "release", "samebit"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    flags = parser.parse_args()
    seconds = {"samebit": [], "samebit, packed cache": [], "llama.cpp, read": [], "llama.cpp, mapped": []}
    with tempfile.TemporaryDirectory() as cache:
        own(flags, "--packed-cache", cache)  # writes the file
        for _ in range(flags.rounds):
            plain, found = own(flags)
            seconds["samebit"].append(plain)
            seconds["samebit, packed cache"].append(own(flags, "--packed-cache", cache)[0])
            seconds["llama.cpp, read"].append(peer(flags, "NONE"))
            seconds["llama.cpp, mapped"].append(peer(flags, "MMAP"))
    best = {name: round(min(values), 4) for name, values in seconds.items()}
    allowed = best["llama.cpp, read"] + found["weights_bytes"] / 2e9
    print(
        json.dumps(
            {
                "model": os.path.basename(flags.model),
                "cpu": found["cpu"],
                "threads": flags.threads,
                "best_seconds": best,
                "llama_cpp_read_and_packing_at_2_gb_per_second": round(allowed, 4),
                "pack_seconds_last": found["pack_seconds"],
                "weights_bytes": found["weights_bytes"],
                "all_seconds": seconds,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
