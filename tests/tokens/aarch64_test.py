#!/usr/bin/env python3
"""The real SmolLM2 gives the same logits digest on aarch64 (qemu, NEON and scalar) and on this machine.

Cross-builds tests/tokens/samebit_tokens in build/aarch64 and runs a short prompt through it. The path under test is
checked: the driver reports its instruction set. A negative control asks for one token more and must differ.
Standard library only.
"""
import argparse
import json
import os
import subprocess
import sys

# "<|im_start|>user\nWhat is gravity?<|im_end|>\n" and the opening of the answer, as ids of SmolLM2.
PROMPT = "1,4093,198,1780,314,8523,47,2,198,1,520,9531,198"
TOKENS = 4


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def answer(prefix, driver, model, isa, tokens=TOKENS, threads=1):
    result = json.loads(run([*prefix, driver, model, PROMPT, str(tokens), isa, str(threads)]))
    assert result["isa"] == isa, result
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--model", required=True)
    args = parser.parse_args()
    if not os.path.exists(args.model):
        sys.exit(f"{args.model} is missing: run ./check, which fetches it")

    build = os.path.join(args.source, "build", "aarch64")
    run(["cmake", "-S", args.source, "--preset", "aarch64"])
    run(["cmake", "--build", build, "--target", "samebit_tokens"])
    foreign = os.path.join(build, "samebit_tokens")
    qemu = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]

    native = answer([], args.driver, args.model, "scalar")
    results = [native, answer([], args.driver, args.model, "scalar", threads=2)]
    results += [answer(qemu, foreign, args.model, "neon"), answer(qemu, foreign, args.model, "neon", threads=2)]
    for result in results:
        print(json.dumps(result))
    if any(r["token_ids"] != native["token_ids"] or r["logits_digest"] != native["logits_digest"] for r in results):
        sys.exit("FAILED: the digests differ")
    if answer([], args.driver, args.model, "scalar", tokens=TOKENS + 1)["logits_digest"] == native["logits_digest"]:
        sys.exit("FAILED: the digest does not depend on the answer")
    print("one digest:", native["logits_digest"])


if __name__ == "__main__":
    main()
