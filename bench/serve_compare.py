#!/usr/bin/env python3
"""`samebit serve` beside llama.cpp's server: same file, same machine, same requests, interleaved rounds, ratios last.

    peer/bin/python bench/serve_compare.py --model models/smollm2-135m-instruct-q4_1.gguf

Needs the package xllamacpp (llama.cpp with its server inside) in the Python that runs this. The client runs on the same
cores as the server it asks, so both lose what it takes. Rows:

- streams:N   N clients, each asking one answer after another: prompts of 128 token ids, 64 tokens, streamed; answer
              tokens per second, all clients together.
- mixed:N     N clients with prompts of 16 to 512 ids and answers of 16 to 128 tokens: seconds to the first token, and
              between tokens, median and 95th percentile.
- idle:8      streams:8 while 500 keep-alive connections lie open (samebit only).
- queued:32   streams:32 while 64 more wait for a slot (samebit only).

For samebit also what its threads used: the share of processor time outside the engine's own threads.
"""

import argparse
import datetime
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

from compare import cpu_model, vocabulary_of, wait_for_idle

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ROWS = ["streams:1", "streams:8", "streams:32", "mixed:16", "idle:8", "queued:32"]
OWN_ROWS = ("idle", "queued")
SLOTS = 32
CONTEXT = 768  # of each slot
IDLE_CONNECTIONS = 500
QUEUED = 64  # beyond the slots
PROMPT_LENGTHS, ANSWER_LENGTHS = (16, 128, 512, 64), (64, 16, 128)
PEER = """
import sys, time
import xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = int(sys.argv[2])
parameters.n_parallel, parameters.n_ctx, parameters.n_gpu_layers = int(sys.argv[3]), int(sys.argv[3]) * int(sys.argv[4]), 0
parameters.kv_unified, parameters.cache_ram_mib, parameters.verbosity = False, 0, 0
if sys.argv[5] == "off":
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
server = xllamacpp.Server(parameters)
print("LISTENING", server.listening_address, flush=True)
sys.stdin.read()
"""


class Samebit:
    name = "samebit"

    def __init__(self, flags):
        command = [flags.samebit, "serve", flags.model, "--port", "0", "--threads", str(flags.threads), "--no-access-log"]
        command += ["--max-sequences", str(SLOTS)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"http://[^ ]*:(\d+)/v1$", line.strip())
            if found:
                break
        self.port = int(found.group(1))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def thread_seconds(self):
        """Processor seconds of each thread, most first."""
        folder, ticks = f"/proc/{self.process.pid}/task", os.sysconf("SC_CLK_TCK")
        seconds = []
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            seconds.append((int(fields[11]) + int(fields[12])) / ticks)
        return sorted(seconds, reverse=True)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class LlamaCpp:
    def __init__(self, flags, flash):
        self.name = f"llama.cpp, flash attention {flash}"
        command = [sys.executable, "-c", PEER, flags.model, str(flags.threads), str(SLOTS), str(CONTEXT), flash]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        for line in self.process.stdout:
            found = re.match(r"LISTENING http://[^ ]*:(\d+)", line)
            if found:
                break
        self.port = int(found.group(1))

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def prompt_of(client, turn, length, vocabulary):
    return [(i * 7919 + client * 104729 + turn * 1299709 + 17) % vocabulary for i in range(length)]


def ask(port, prompt, tokens):
    """Streams one answer: the moments at which tokens came, from the request on, and the text. A connection each:
    llama.cpp's server closes its own after a while."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "stream": True}
    start = time.monotonic()
    connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        sys.exit(f"status {response.status}: {response.read()[:500]}")
    times, text = [], ""
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        choices = json.loads(line[6:])["choices"]
        if choices and choices[0]["finish_reason"] is None:
            times.append(time.monotonic() - start)
            text += choices[0]["text"]
    connection.close()
    return times, text


def run_clients(port, clients, turns, shape, vocabulary):
    """Every client asks `turns` answers. shape(client, turn) -> (prompt length, answer tokens)."""
    answers = {}
    gate = threading.Barrier(clients + 1)

    def client(index):
        gate.wait()
        for turn in range(turns):
            length, tokens = shape(index, turn)
            answers[index, turn] = (tokens, *ask(port, prompt_of(index, turn, length, vocabulary), tokens))

    threads = [threading.Thread(target=client, args=(index,)) for index in range(clients)]
    for thread in threads:
        thread.start()
    gate.wait()
    start = time.monotonic()
    for thread in threads:
        thread.join()
    return time.monotonic() - start, answers


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure(server, row, vocabulary):
    kind, clients = row.split(":")[0], int(row.split(":")[1])
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(IDLE_CONNECTIONS if kind == "idle" else 0)]
    before = server.thread_seconds() if isinstance(server, Samebit) else None
    if kind == "mixed":
        turns = 4
        shape = lambda client, turn: (PROMPT_LENGTHS[(client + turn) % 4], ANSWER_LENGTHS[(client + turn) % 3])
    else:
        turns = max(2, 16 // clients)
        shape = lambda client, turn: (128, 64)
    if kind == "queued":
        clients += QUEUED
    seconds, answers = run_clients(server.port, clients, turns, shape, vocabulary)
    for connection in idle:
        connection.close()
    firsts = [times[0] for _, times, _ in answers.values()]
    gaps = [b - a for _, times, _ in answers.values() for a, b in zip(times, times[1:])]
    found = {"tokens_per_second": sum(tokens for tokens, _, _ in answers.values()) / seconds,
             "first_token_median": statistics.median(firsts), "first_token_p95": percentile(firsts, 0.95),
             "between_median": statistics.median(gaps), "between_p95": percentile(gaps, 0.95),
             "digest": hashlib.sha256("".join(answers[key][2] for key in sorted(answers)).encode()).hexdigest()}
    if before is not None:
        # Threads may have started meanwhile; none end while the server runs.
        after = server.thread_seconds()
        used = [a - b for a, b in zip(after, before + [0] * (len(after) - len(before)))]
        found["outside_engine_share"] = sum(used[2:]) / max(1e-9, sum(used))
    return found


def table(results, about):
    own, *peers = list(next(iter(results.values())))
    lines = [about, "", "Tokens per second: best round, higher is better. Seconds: best round, lower is better; ratio = llama.cpp's over",
             "ours, so that over 1 samebit is better everywhere.", "",
             f"| row | figure | {own} | " + " | ".join(peers) + " | ratio |", "|---|---|" + "---:|" * (len(peers) + 2)]
    figures = [("tokens_per_second", "tokens/s", 1), ("first_token_median", "first token, median, ms", -1),
               ("first_token_p95", "first token, p95, ms", -1), ("between_median", "between tokens, median, ms", -1),
               ("between_p95", "between tokens, p95, ms", -1)]
    for row, by_server in results.items():
        for key, name, sign in figures:
            best = {server: (max if sign > 0 else min)(one[key] for one in rounds)
                    for server, rounds in by_server.items() if rounds}
            peer = [best[name] for name in peers if name in best]
            ratio = "" if not peer else f"{best[own] / max(peer):.2f}" if sign > 0 else f"{min(peer) / best[own]:.2f}"
            scale = 1 if sign > 0 else 1000
            cells = " | ".join(f"{best[server] * scale:.1f}" if server in best else "" for server in (own, *peers))
            lines.append(f"| {row} | {name} | {cells} | {ratio} |")
        share = min(one["outside_engine_share"] for one in by_server[own])
        lines.append(f"| {row} | processor time outside the engine, % | {100 * share:.1f} |" + " |" * (len(peers) + 1))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--samebit", default=os.path.join(ROOT, "build", "release", "samebit"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--row", action="append", help="only this row (repeatable)")
    parser.add_argument("--flash", choices=["on", "off", "both"], default="both", help="llama.cpp's flash attention")
    parser.add_argument("--out", help="folder for the results (default: bench/runs/<date>-<machine>/serve)")
    flags = parser.parse_args()
    vocabulary = vocabulary_of(flags.samebit, flags.model)
    makers = [lambda: Samebit(flags)]
    makers += [lambda flash=flash: LlamaCpp(flags, flash) for flash in ("on", "off") if flags.flash in (flash, "both")]
    results = {}
    for row in flags.row or ROWS:
        results[row] = {}
        for number in range(flags.rounds):
            for make in makers[:1] if row.startswith(OWN_ROWS) else makers:
                wait_for_idle()
                server = make()
                run_clients(server.port, 1, 1, lambda client, turn: (16, 8), vocabulary)  # warms caches and threads
                found = measure(server, row, vocabulary)
                server.stop()
                results[row].setdefault(server.name, []).append(found)
                print(f"{row}, round {number + 1}, {server.name}: {found['tokens_per_second']:.1f} tokens/s",
                      file=sys.stderr, flush=True)
        if len({one["digest"] for one in results[row]["samebit"]}) != 1:
            sys.exit(f"{row}: samebit's rounds gave different answers")
    for row in results:  # every row has the columns of the first
        for name in next(iter(results.values())):
            results[row].setdefault(name, [])
    about = f"{cpu_model()}, {flags.threads} threads, {os.path.basename(flags.model)}, {SLOTS} slots of {CONTEXT} tokens"
    text = table(results, about)
    machine = re.sub(r"[^a-z0-9]+", "-", cpu_model().lower()).strip("-")
    folder = flags.out or os.path.join(HERE, "runs", f"{datetime.date.today()}-{machine}", "serve")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "table.md"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(folder, "raw.json"), "w", encoding="utf-8") as file:
        json.dump({"schema": "samebit.serve_comparison/1", "date": str(datetime.date.today()), "about": about,
                   "command": " ".join(["bench/serve_compare.py", *sys.argv[1:]]), "rounds": flags.rounds,
                   "results": results}, file, indent=1)
    print(text)


if __name__ == "__main__":
    main()
