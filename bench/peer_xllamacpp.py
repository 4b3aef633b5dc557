#!/usr/bin/env python3
"""Measures one row with llama.cpp (package xllamacpp) in this process and prints its tokens per second as JSON.

Started by compare.py, once per row, so that no idle server disturbs what is measured next.
"""

import argparse
import concurrent.futures
import json
import time
import urllib.request

import xllamacpp


def serve(model, threads, flash, batch, context_of_each):
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.n_parallel = batch
    parameters.n_ctx = batch * context_of_each
    parameters.kv_unified = False
    parameters.cache_ram_mib = 0
    parameters.n_gpu_layers = 0
    parameters.verbosity = 0
    kinds = xllamacpp.llama_flash_attn_type
    parameters.flash_attn_type = (
        kinds.LLAMA_FLASH_ATTN_TYPE_ENABLED if flash else kinds.LLAMA_FLASH_ATTN_TYPE_DISABLED
    )
    return xllamacpp.Server(parameters)


def complete(server, slot, prompt, tokens, reuse):
    body = {
        "prompt": prompt,
        "n_predict": tokens,
        "temperature": 0,
        "ignore_eos": True,
        "cache_prompt": reuse,
        "id_slot": slot,
    }
    request = urllib.request.Request(
        server.listening_address + "/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=3600) as answer:
        return json.load(answer)["timings"]


def prompt_of(sequence, tokens, vocabulary):
    """The same ids as samebit bench reads (src/cli/bench_rows.cc)."""
    return [(i * 7919 + sequence * 104729 + 17) % vocabulary for i in range(tokens)]


def prefill(server, tokens, vocabulary, repeats):
    rates = []
    for repeat in range(repeats + 1):
        timings = complete(server, 0, prompt_of(0, tokens, vocabulary), 1, reuse=False)
        assert timings["prompt_n"] == tokens, timings
        if repeat > 0:  # the first warms caches and threads
            rates.append(1000 * tokens / timings["prompt_ms"])
    return rates


def decode(server, batch, depth, tokens, vocabulary, repeats):
    prompts = [prompt_of(slot, max(depth, 1), vocabulary) for slot in range(batch)]
    rates = []
    with concurrent.futures.ThreadPoolExecutor(batch) as pool:
        if depth > 0:
            for slot in range(batch):
                complete(server, slot, prompts[slot], 1, reuse=True)
        for _ in range(repeats):
            # Each slot still holds its own prompt, so that all start to decode at once.
            work = [
                pool.submit(complete, server, slot, prompts[slot], tokens + 1, depth > 0) for slot in range(batch)
            ]
            all_timings = [one.result() for one in work]
            for timings in all_timings:
                assert timings["predicted_n"] == tokens + 1, timings
                assert timings["prompt_n"] <= max(1, depth // 8), f"the prompt was read again: {timings}"
            rates.append(sum(1000 * tokens / timings["predicted_ms"] for timings in all_timings))
    return rates


def stream(server, slot, prompt, tokens):
    """Starts an endless answer; returns its connection once the first token is there."""
    body = {
        "prompt": prompt,
        "n_predict": tokens,
        "temperature": 0,
        "ignore_eos": True,
        "cache_prompt": False,
        "id_slot": slot,
        "stream": True,
    }
    request = urllib.request.Request(
        server.listening_address + "/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    connection = urllib.request.urlopen(request, timeout=3600)
    connection.readline()
    return connection


def mixed(server, batch, tokens, vocabulary, repeats):
    """A prompt arrives while `batch` sequences decode: until its first token, by this client's clock."""
    connections = [stream(server, slot, prompt_of(slot, 1, vocabulary), 4000) for slot in range(batch)]
    rates = []
    for repeat in range(repeats + 1):
        start = time.monotonic()
        timings = complete(server, batch, prompt_of(batch, tokens, vocabulary), 1, reuse=False)
        seconds = time.monotonic() - start
        assert timings["prompt_n"] == tokens, timings
        if repeat > 0:
            rates.append(tokens / seconds)
    for connection in connections:
        assert connection.readline(), "a sequence ended before the measurement did"
        connection.close()
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--flash", choices=["on", "off"], required=True)
    parser.add_argument("--row", required=True, help="prefill:TOKENS, decode:BATCH:DEPTH:TOKENS or mixed:BATCH:TOKENS")
    parser.add_argument("--vocabulary", type=int, required=True)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", required=True)
    flags = parser.parse_args()
    kind, *numbers = flags.row.split(":")
    numbers = [int(number) for number in numbers]
    if kind == "prefill":
        server = serve(flags.model, flags.threads, flags.flash == "on", 1, numbers[0] + 256)
        rates = prefill(server, numbers[0], flags.vocabulary, flags.repeat)
    elif kind == "mixed":
        batch, tokens = numbers
        server = serve(flags.model, flags.threads, flags.flash == "on", batch + 1, max(4096, tokens) + 256)
        rates = mixed(server, batch, tokens, flags.vocabulary, flags.repeat)
    else:
        batch, depth, tokens = numbers
        server = serve(flags.model, flags.threads, flags.flash == "on", batch, depth + tokens + 256)
        rates = decode(server, batch, depth, tokens, flags.vocabulary, flags.repeat)
    with open(flags.out, "w", encoding="utf-8") as file:
        json.dump({"tokens_per_second": rates, "version": xllamacpp.__version__}, file)


if __name__ == "__main__":
    main()
