#!/usr/bin/env python3
"""The rows of `samebit bench` beside llama.cpp: same file, same machine, interleaved rounds, ratios last.

Needs the package xllamacpp in the Python that runs this, or builds of llama.cpp (--llama-bench, --llama-batched-bench).
Writes raw.json and table.md to bench/runs/<date>-<machine>/. bench/README.md says how things are measured.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ROWS = [
    "prefill:128",
    "prefill:512",
    "prefill:2048",
    "decode:1:0",
    "decode:8:0",
    "decode:32:0",
    "decode:1:2048",
    "decode:8:2048",
    "decode:32:2048",
    "mixed:8:512",
]

ROW_NAMES = "prefill:TOKENS, decode:BATCH:DEPTH or mixed:BATCH:TOKENS"
BUSY_MAX = 0.1

ABOUT = [
    "cpu",
    "isa",
    "threads",
    "model",
    "arithmetic",
    "versions",
    "ready_seconds",
    "weights_bytes",
    "resident_bytes",
]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexit {done.returncode}\n{done.stderr[-3000:]}")
    return done.stdout


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*:\s*(.+)", file.read())
    return found.group(1).strip() if found else "unknown"


class Samebit:
    name = "samebit"

    def __init__(self, flags):
        self.flags = flags
        self.about = {}

    def measure(self, row):
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            run(
                [
                    self.flags.samebit,
                    "bench",
                    self.flags.model,
                    "--row",
                    row,
                    "--repeat",
                    str(self.flags.repeat),
                    "--threads",
                    str(self.flags.threads),
                    "--json",
                    out.name,
                ]
            )
            with open(out.name, encoding="utf-8") as file:
                found = json.load(file)
        self.about = {key: found[key] for key in ABOUT}
        one = found["rows"][0]
        timed_tokens = one["tokens"] * (one["batch"] if one["name"] == "decode" else 1)
        return {
            "tokens_per_second": [timed_tokens / seconds for seconds in one["seconds"]],
            "digest": one["digest"],
            "resident_peak_bytes": found["resident_peak_bytes"],
            "warnings": found["warnings"],
        }


class Xllamacpp:
    def __init__(self, flags, flash):
        self.flags, self.flash = flags, flash
        self.name = f"llama.cpp, flash attention {flash}"

    def measure(self, row):
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            run(
                [
                    sys.executable,
                    os.path.join(HERE, "peer_xllamacpp.py"),
                    "--model",
                    self.flags.model,
                    "--row",
                    row,
                    "--threads",
                    str(self.flags.threads),
                    "--flash",
                    self.flash,
                    "--repeat",
                    str(self.flags.repeat),
                    "--vocabulary",
                    str(self.flags.vocabulary),
                    "--out",
                    out.name,
                ]
            )
            with open(out.name, encoding="utf-8") as file:
                return json.load(file)


class Binaries:
    """llama-bench for one sequence, llama-batched-bench for several."""

    def __init__(self, flags, flash):
        self.flags, self.flash = flags, flash
        self.name = f"llama.cpp, flash attention {flash}"

    def measure(self, row):
        kind, *numbers = row.split(":")
        common = ["-m", self.flags.model, "-t", str(self.flags.threads), "-ngl", "0"]
        if kind == "mixed":
            sys.exit("llama-bench has no row for a prompt that arrives among others: leave mixed out, or use xllamacpp")
        if kind == "decode" and numbers[0] != "1":
            batch, depth, tokens = (int(number) for number in numbers)
            context = batch * (max(depth, 1) + tokens + 16)
            rates = []
            for _ in range(self.flags.repeat):
                lines = run(
                    [
                        self.flags.llama_batched_bench,
                        *common,
                        "-fa",
                        self.flash,
                        "-c",
                        str(context),
                        "-npp",
                        str(max(depth, 1)),
                        "-ntg",
                        str(tokens),
                        "-npl",
                        str(batch),
                        "--output-format",
                        "jsonl",
                    ]
                )
                rates += [json.loads(line)["speed_tg"] for line in lines.splitlines() if line.startswith("{")]
            return {"tokens_per_second": rates}
        shape = (
            ["-p", numbers[0], "-n", "0"] if kind == "prefill" else ["-p", "0", "-n", numbers[2], "-d", numbers[1]]
        )
        flash = "1" if self.flash == "on" else "0"
        found = json.loads(
            run([self.flags.llama_bench, *common, *shape, "-fa", flash, "-r", str(self.flags.repeat), "-o", "json"])
        )
        return {"tokens_per_second": found[0]["samples_ts"]}


def vocabulary_of(samebit, model):
    """The largest token id + 1, from the sentence with which samebit refuses a larger one."""
    done = subprocess.run([samebit, "run", model, "--token-ids", "2097151"], capture_output=True, text=True)
    found = re.search(r"token ids 0 to (\d+)", done.stderr)
    if not found:
        sys.exit(f"{samebit} did not say how many tokens the model has:\n{done.stderr}")
    return int(found.group(1)) + 1


def busy_share(seconds=0.5):
    """Share of the machine's cores that somebody used in the last moment; we only sleep meanwhile."""

    def read():
        with open("/proc/stat", encoding="utf-8") as file:
            fields = [int(word) for word in file.readline().split()[1:]]
        return sum(fields), fields[3] + fields[4]

    total, idle = read()
    time.sleep(seconds)
    total_after, idle_after = read()
    return 1 - (idle_after - idle) / max(1, total_after - total)


def wait_for_idle():
    """Spinning barriers are ruined by one other busy process: waits for quiet, a minute at most. Returns what is left."""
    for _ in range(120):
        busy = busy_share()
        if busy < BUSY_MAX:
            break
    return busy


def best_and_median(rounds):
    rates = [rate for one in rounds for rate in one["tokens_per_second"]]
    return max(rates), statistics.median(rates)


def table(results, runners, about):
    ours, *peers = runners
    lines = [
        f"{about['cpu']}, {about['isa']}, {about['threads']} threads, {about['model']}, "
        f"samebit {about['versions']['samebit']} ({about['arithmetic']}). Tokens per second, best (median).",
        "",
        "| row | " + " | ".join(runner.name for runner in runners) + " | ratio best | ratio median |",
        "|---|" + "---:|" * (len(runners) + 2),
    ]
    for row, by_runner in results.items():
        cells = {name: best_and_median(rounds) for name, rounds in by_runner.items()}
        own_best, own_median = cells[ours.name]
        peer_best = max(cells[peer.name][0] for peer in peers)
        peer_median = max(cells[peer.name][1] for peer in peers)
        figures = " | ".join(f"{cells[runner.name][0]:.1f} ({cells[runner.name][1]:.1f})" for runner in runners)
        lines.append(f"| {row} | {figures} | {own_best / peer_best:.2f} | {own_median / peer_median:.2f} |")
    return "\n".join(lines) + "\n"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--samebit", default=os.path.join(ROOT, "build", "release", "samebit"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds")
    parser.add_argument("--repeat", type=int, default=3, help="times that a row is measured in a round")
    parser.add_argument("--decode-tokens", type=int, default=64, help="timed tokens of a decode row")
    parser.add_argument(
        "--row", action="append", type=row_name, help=f"only this row (repeatable): {ROW_NAMES}"
    )
    parser.add_argument("--flash", choices=["on", "off", "both"], default="both", help="llama.cpp's flash attention")
    parser.add_argument("--llama-bench", help="a build of llama.cpp's llama-bench, instead of xllamacpp")
    parser.add_argument("--llama-batched-bench", help="with --llama-bench: for rows of several sequences")
    parser.add_argument("--out", help="folder for the results (default: bench/runs/<date>-<machine>)")
    flags = parser.parse_args()
    if bool(flags.llama_bench) != bool(flags.llama_batched_bench):
        parser.error("--llama-bench and --llama-batched-bench go together")
    return flags


def row_name(text):
    if not re.fullmatch(r"prefill:\d+|decode:\d+:\d+|mixed:\d+:\d+", text):
        raise argparse.ArgumentTypeError(f"expected {ROW_NAMES}, found {text!r}")
    return text


def main():
    flags = parse()
    flags.vocabulary = vocabulary_of(flags.samebit, flags.model)
    peer = Binaries if flags.llama_bench else Xllamacpp
    settings = ["on", "off"] if flags.flash == "both" else [flags.flash]
    runners = [Samebit(flags), *(peer(flags, setting) for setting in settings)]
    rows = [row + (f":{flags.decode_tokens}" if row.startswith("decode") else "") for row in flags.row or ROWS]

    busiest = 0.0
    results = {row: {runner.name: [] for runner in runners} for row in rows}
    for row in rows:
        for number in range(flags.rounds):
            for runner in runners:
                busy = wait_for_idle()
                found = runner.measure(row)
                found["busy_before"] = round(busy, 3)
                busiest = max(busiest, busy)
                results[row][runner.name].append(found)
                print(
                    f"{row}, round {number + 1}, {runner.name}: " f"{max(found['tokens_per_second']):.1f} tokens/s",
                    file=sys.stderr,
                    flush=True,
                )
        digests = {one["digest"] for one in results[row][runners[0].name]}
        if len(digests) != 1:
            sys.exit(f"{row}: samebit's rounds gave different answers: {digests}")

    about = runners[0].about
    text = table(results, runners, about)
    machine = re.sub(r"[^a-z0-9]+", "-", cpu_model().lower()).strip("-")
    folder = flags.out or os.path.join(HERE, "runs", f"{datetime.date.today()}-{machine}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "table.md"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(folder, "raw.json"), "w", encoding="utf-8") as file:
        json.dump(
            {
                "schema": "samebit.comparison/1",
                "date": str(datetime.date.today()),
                "command": " ".join(["bench/compare.py", *sys.argv[1:]]),
                "model": os.path.basename(flags.model),
                "about": about,
                "rounds": flags.rounds,
                "repeat": flags.repeat,
                "results": results,
            },
            file,
            indent=1,
        )
    print(text)
    if busiest >= BUSY_MAX:
        print(f"warning: {100 * busiest:.0f} % of the cores were busy before a measurement: use an idle machine")


if __name__ == "__main__":
    main()
