#!/usr/bin/env python3
"""A soak of `samebit serve`: many requests of every kind, the same answers all the way, and no growth.

    bench/soak_serve.py --model models/smollm2-135m-instruct-q4_1.gguf

Clients ask a mixture (MIXTURE below): chats and completions, whole and streamed, seeds, n = 2, echo, forms, tool calls, bad
requests, clients that leave in the middle; connections are reused and new. What request k is depends on k and --seed only,
so that two soaks of the same settings have the same digest.

Among them the probes are asked over and over. Each was asked once on the idle server first, and every later answer must be
the same bytes: text, token ids, log-probabilities, digests. Left out of the comparison: `id`, `created` and `cached_tokens`,
and in which order two choices of one stream arrive.

The server's resident memory, open files and threads are sampled; the means of the second and of the last tenth of the samples
may differ by --bound-mib, the files by the number of clients, the threads by one. Idle again, it may have no more files open
than before. Writes soak.json and memory.svg; exits with 1 where an answer differed, an answer was not of the expected kind, or
something grew. A trial of two minutes:

    bench/soak_serve.py --model models/smollm2-135m-instruct-q4_1.gguf --requests 2000 --cache-mib 32 --out trial
"""

import argparse
import datetime
import hashlib
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

from compare import cpu_model

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CHAT, OLD = "/v1/chat/completions", "/v1/completions"
# Requests of each kind in a hundred.
MIXTURE = {"probe": 16, "chat": 20, "chat stream": 18, "completion": 12, "completion stream": 8, "form": 6, "tool": 4,
           "look": 4, "bad": 7, "leaves": 5}
NEW_CONNECTION_SHARE = 0.2
TOPICS = ["a cat", "the moon", "Paris", "an old clock", "rain", "a chess game", "bread", "a robot", "music", "a lost key", "winter",
          "a lighthouse", "ants", "a red bicycle", "the sea", "a dragon", "tea", "a bridge", "snow", "a letter"]
TASKS = ["Describe {}.", "Write a line about {}.", "Why do people like {}?", "Name three things about {}.", "Tell me a joke about {}.",
         "What rhymes with {}?", "A story of {} begins with", "In one word, what is {}?"]
TURNS = [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hello! How can I help you today?"}]
VARYING = [(re.compile(rb'"id":"(chatcmpl|cmpl)-[^"]*"'), b'"id":""'), (re.compile(rb'"created":\d+'), b'"created":0'),
           (re.compile(rb'"cached_tokens":\d+'), b'"cached_tokens":0')]


def user(text):
    return [{"role": "user", "content": text}]


def form(schema):
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def tool(name, largest):
    return {"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "properties": {"a": {"type": "integer", "minimum": 0, "maximum": largest}}, "required": ["a"],
        "additionalProperties": False}}}


ALL = {"logprobs": True, "top_logprobs": 3, "return_token_ids": True, "return_margins": True}
OLD_ALL = {"logprobs": 3, "return_token_ids": True}
ONE_TOOL = {"tools": [tool("add", 99)], "tool_choice": "required", "parallel_tool_calls": False, "max_tokens": 48}
PROBES = [
    (CHAT, {"messages": user("Describe the sea."), "max_tokens": 16, **ALL}),
    (CHAT, {"messages": user("Describe the sea."), "max_tokens": 16, "temperature": 0.9, "seed": 1, **ALL}),
    (CHAT, {"messages": user("Describe the sea."), "max_tokens": 12, "temperature": 1.2, "top_p": 0.9, "seed": 2, "n": 2, **ALL}),
    (CHAT, {"messages": user("Describe the sea."), "max_tokens": 16, "stream": True, **ALL}),
    (CHAT, {"messages": user("Describe the sea."), "max_tokens": 12, "stream": True, "temperature": 0.8, "seed": 3, "n": 2, **ALL}),
    (CHAT, {"messages": TURNS + user("What is the capital of France?"), "max_tokens": 16, **ALL}),
    (CHAT, {"messages": TURNS + user("A name for a cat"), "max_tokens": 8, "temperature": 1, "top_k": 40, "seed": 4,
            "stream": True, "stream_options": {"include_usage": True}, **ALL}),
    (CHAT, {"messages": user("Count."), "max_tokens": 16, "stop": ["3"], "frequency_penalty": 0.4, **ALL}),
    (CHAT, {"messages": user("A number?"), "max_tokens": 24, "response_format": form({"type": "integer", "minimum": 10, "maximum": 99}),
            "temperature": 1, "seed": 5, **ALL}),
    (CHAT, {"messages": user("An animal?"), "max_tokens": 24, "response_format": form({"enum": ["cat", "dog", "ant"]}), "stream": True,
            **ALL}),
    (CHAT, {"messages": user("Add one."), "temperature": 0, **ONE_TOOL}),
    (CHAT, {"messages": user("Add one."), "temperature": 1, "seed": 6, "stream": True, **ONE_TOOL}),
    (OLD, {"prompt": "Once upon a time", "max_tokens": 16, **OLD_ALL}),
    (OLD, {"prompt": "Once upon a time", "max_tokens": 12, "stream": True, **OLD_ALL}),
    (OLD, {"prompt": ["One two three", "Four five six"], "max_tokens": 8, "temperature": 0.7, "seed": 7, "n": 2, **OLD_ALL}),
    (OLD, {"prompt": "The law of the sea", "max_tokens": 0, "echo": True, **OLD_ALL}),
    (OLD, {"prompt": "The law of the", "max_tokens": 8, "echo": True, **OLD_ALL}),
    (OLD, {"prompt": list(range(100, 400)), "max_tokens": 8, **OLD_ALL}),
    (OLD, {"prompt": "1, 2, 3,", "max_tokens": 12, "use_beam_search": True, "n": 2, "best_of": 3, **OLD_ALL}),
    (OLD, {"prompt": "x = ", "max_tokens": 12, "repetition_penalty": 1.2, "logit_bias": {"33": -5}, "temperature": 0.6, "seed": 8,
           **OLD_ALL}),
    ("/v1/embeddings", {"input": ["The sea.", "A dragon."]}),
]
# Each with the status and the code that it must be answered with.
BAD = [
    ("POST", CHAT, "{", 400, "invalid_json"),
    ("POST", CHAT, {"messages": user("x"), "temperature": 1}, 400, "seed_required"),
    ("POST", CHAT, {"messages": user("x"), "frobnicate": 1}, 400, None),
    ("POST", CHAT, {"messages": "x"}, 400, None),
    ("POST", CHAT, {"messages": user("x"), "max_tokens": -1}, 400, None),
    ("POST", CHAT, {"messages": user("x"), "response_format": form({"type": "string", "pattern": "(?=x)"})}, 400, "unsupported_schema"),
    ("POST", CHAT, {"messages": user("x" * 400_000)}, 400, "context_length_exceeded"),
    ("POST", CHAT, {"messages": user("x"), "model": "gpt-5"}, 404, "model_not_found"),
    ("POST", OLD, {"prompt": [10**9]}, 400, None),
    ("POST", OLD, {"prompt": "x", "reproducibility": {"model_sha256": "0" * 64}}, 409, None),
    ("POST", "/v1/embeddings", {"input": [""], "dimensions": -1}, 400, None),
    ("GET", CHAT, None, 405, "method_not_allowed"),
    ("GET", "/nothing", None, 404, "not_found"),
]
LOOKS = [("GET", "/health", None), ("GET", "/ready", None), ("GET", "/metrics", None), ("GET", "/v1/models", None),
         ("GET", "/v1/fingerprint", None), ("POST", "/detokenize", {"tokens": [28, 29, 30]})]


class Serve:
    """The server, started here, with its own log read and counted."""

    def __init__(self, flags):
        command = [flags.samebit, "serve", flags.model, "--port", "0", "--threads", str(flags.threads), "--chat-template",
                   flags.chat_template, "--cache-mib", str(flags.cache_mib), "--served-model-name", "soaked"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.log_lines, self.port, line = 0, None, ""
        for line in self.process.stderr:
            found = re.search(r"http://[^ ]*:(\d+)/v1$", line.strip())
            if found:
                self.port = int(found.group(1))
                break
        if self.port is None:
            sys.exit(f"the server did not start: {line.strip()}")
        self.reader = threading.Thread(target=self._count, daemon=True)
        self.reader.start()

    def _count(self):
        for line in self.process.stderr:
            self.log_lines += line.startswith("{")

    def state(self):
        """Of the process: resident MiB, open files, threads."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            fields = dict(line.split(":", 1) for line in file)
        return {"resident_mib": int(fields["VmRSS"].split()[0]) / 1024, "threads": int(fields["Threads"]),
                "files": len(os.listdir(f"/proc/{self.process.pid}/fd"))}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.reader.join(10)
        return code


class Client:
    """One of those that ask at once: a connection that is kept for a while."""

    def __init__(self, port):
        self.port, self.connection = port, None

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def begin(self, method, path, body, anew):
        if anew:
            self.close()
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        text = body if isinstance(body, (str, type(None))) else json.dumps(body)
        self.connection.request(method, path, text, {"Content-Type": "application/json"} if text is not None else {})
        return self.connection.getresponse()

    def ask(self, method, path, body=None, anew=False):
        response = self.begin(method, path, body, anew)
        return response.status, response.read()

    def leave(self, path, body, lines):
        """Reads some lines of the answer and hangs up."""
        response = self.begin("POST", path, body, True)
        for _ in range(lines):
            response.readline()
        response.close()
        self.close()


def bare(body, streamed):
    """An answer without what may differ."""
    for pattern, plain in VARYING:
        body = pattern.sub(plain, body)
    if not streamed:
        return body
    events = body.split(b"\n\n")
    if events[-2:] != [b"data: [DONE]", b""]:
        return b"a stream without its end: " + body[-400:]
    by_choice = {}
    for event in events[:-2]:
        choices = json.loads(event[6:]).get("choices")
        by_choice.setdefault(choices[0]["index"] if choices else -1, []).append(event)
    return b"\n".join(b"\n".join(by_choice[index]) for index in sorted(by_choice))


class Plan:
    """What request k is: a kind, and what to ask."""

    def __init__(self, seed):
        self.seed = seed

    def of(self, number):
        draw = random.Random(self.seed * 1_000_003 + number)
        kind = draw.choices(list(MIXTURE), list(MIXTURE.values()))[0]
        return kind, draw.random() < NEW_CONNECTION_SHARE, *self.asked(kind, number, draw)

    def asked(self, kind, number, draw):
        """Method, path, body, expected status and code."""
        text = draw.choice(TASKS).format(draw.choice(TOPICS)) + f" ({number})"
        fields = {"max_tokens": draw.randint(8, 16)}
        if draw.random() < 0.5:
            fields |= {"temperature": draw.choice([0.3, 0.8, 1.3]), "seed": draw.randrange(2**32)}
        if draw.random() < 0.1:
            fields["n"] = 2
            fields |= {"temperature": 1, "seed": number}
        wants_all = draw.random() < 0.3
        if kind == "probe":
            return "POST", *PROBES[draw.randrange(len(PROBES))], 200, None
        if kind == "bad":
            return BAD[draw.randrange(len(BAD))]
        if kind == "look":
            return *LOOKS[draw.randrange(len(LOOKS))], 200, None
        if kind == "leaves":
            return "POST", CHAT, {"messages": user(text), "max_tokens": 300, "stream": draw.random() < 0.7}, None, None
        if kind == "form":
            schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": number},
                                                       "k": {"enum": ["a", "b", f"c{number % 50}"]}},
                      "required": ["n", "k"], "additionalProperties": False}
            return "POST", CHAT, {"messages": user(text), **fields, "max_tokens": 32, "response_format": form(schema)}, 200, None
        if kind == "tool":
            return "POST", CHAT, {"messages": user(text), **fields, **ONE_TOOL, "tools": [tool("add", number), tool("sub", 9)]}, 200, None
        if kind.startswith("chat"):
            messages = (TURNS if draw.random() < 0.3 else []) + user(text)
            body = {"messages": messages, **fields, **(ALL if wants_all else {})}
            return "POST", CHAT, body | ({"stream": True} if kind.endswith("stream") else {}), 200, None
        body = {"prompt": text, **fields, **(OLD_ALL if wants_all else {"echo": draw.random() < 0.3})}
        return "POST", OLD, body | ({"stream": True} if kind.endswith("stream") else {}), 200, None


class Soak:
    def __init__(self, flags, server):
        self.flags, self.server, self.plan = flags, server, Plan(flags.seed)
        self.lock = threading.Lock()
        self.next = self.finished = 0
        self.digests, self.kinds, self.wrong, self.samples = {}, {}, [], []
        client = Client(server.port)
        self.expected = {}
        for path, body in PROBES:
            status, answer = client.ask("POST", path, body)
            if status != 200:
                sys.exit(f"a probe got {status}: {answer[:500]}")
            self.expected[json.dumps(body)] = bare(answer, "stream" in body)
        client.close()
        self.idle_before = self.idle_state()
        self.start = time.monotonic()

    def client(self):
        client = Client(self.server.port)
        while True:
            with self.lock:
                number, self.next = self.next, self.next + 1
            if number >= self.flags.requests:
                break
            try:
                kind, digest, wrong = self.one(client, number)
            except (OSError, http.client.HTTPException, ValueError) as failure:
                client.close()
                kind, digest, wrong = "failed", "", repr(failure)
            self.note(number, kind, digest, wrong)
        client.close()

    def one(self, client, number):
        kind, anew, method, path, body, status_expected, code = self.plan.of(number)
        if kind == "leaves":
            client.leave(path, body, number % 9 if body["stream"] else 0)
            return kind, "left", None
        status, answer = client.ask(method, path, body, anew)
        if status != status_expected:
            return kind, "", f"status {status}, expected {status_expected}: {answer[:500]}"
        if kind == "look":
            return kind, "seen", None
        if kind == "bad":
            error = json.loads(answer)["error"]
            return kind, error["code"], None if code in (None, error["code"]) else f"code {error['code']}, expected {code}"
        plain = bare(answer, bool(body.get("stream")))
        if kind == "probe" and plain != self.expected[json.dumps(body)]:
            return kind, "", f"another answer: {plain[:2000]} instead of {self.expected[json.dumps(body)][:2000]}"
        if kind == "tool" and not json.loads(answer)["choices"][0]["message"].get("tool_calls"):
            return kind, "", f"no call: {answer[:500]}"
        return kind, hashlib.sha256(plain).hexdigest(), None

    def note(self, number, kind, digest, wrong):
        with self.lock:
            self.digests[number] = digest
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
            if wrong:
                self.wrong.append({"request": number, "kind": kind, "why": wrong})
                print(f"request {number}, {kind}: {wrong[:300]}", file=sys.stderr, flush=True)
            self.finished += 1
            if self.finished % self.flags.sample_every == 0:
                sample = {"requests": self.finished, "seconds": round(time.monotonic() - self.start, 1), **self.server.state()}
                self.samples.append(sample)
                print(f"{sample['requests']} requests, {sample['seconds']} s: {sample['resident_mib']:.1f} MiB, "
                      f"{sample['files']} files, {sample['threads']} threads, {len(self.wrong)} wrong", file=sys.stderr, flush=True)

    def run(self):
        clients = [threading.Thread(target=self.client) for _ in range(self.flags.in_flight)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.idle_after = self.idle_state()

    def idle_state(self):
        """Once nobody is connected any more."""
        state = self.server.state()
        for _ in range(50):
            time.sleep(0.1)
            previous, state = state, self.server.state()
            if state["files"] == previous["files"]:
                break
        return state


def growth(samples, key):
    """Means of the second and of the last tenth."""
    size = max(1, len(samples) // 10)
    mean = lambda part: sum(sample[key] for sample in part) / len(part)
    return mean(samples[size:2 * size]), mean(samples[-size:])


def drawing(samples):
    """Resident memory over requests, as SVG."""
    width, height, left, bottom = 760, 260, 70, 40
    most = max(sample["resident_mib"] for sample in samples) * 1.1
    last = samples[-1]["requests"]
    points = " ".join(f"{left + (width - left - 20) * s['requests'] / last:.1f},"
                      f"{(height - bottom) * (1 - s['resident_mib'] / most) + 10:.1f}" for s in samples)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 20}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for part in range(5):
        y = (height - bottom) * (1 - part / 4) + 10
        lines.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - 20}" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{most * part / 4:.0f}</text>')
        x = left + (width - left - 20) * part / 4
        lines.append(f'<text x="{x:.1f}" y="{height - bottom + 28}" text-anchor="middle">{last * part // 4}</text>')
    lines += [f'<polyline points="{points}" fill="none" stroke="#06c" stroke-width="2"/>',
              f'<text x="{width / 2}" y="{height + 8}" text-anchor="middle">resident memory of the server in MiB, by finished requests</text>',
              "</svg>"]
    return "\n".join(lines) + "\n"


def verdict(flags, soak, exit_code):
    """What failed, in words, and the figures behind it."""
    failed, figures = [], {}
    # A chat template runs in a thread of its own, which a sample may meet.
    bounds = {"resident_mib": flags.bound_mib, "files": flags.in_flight, "threads": 1}
    for key, bound in bounds.items():
        second, last = growth(soak.samples, key)
        figures[key] = {"second_tenth": round(second, 3), "last_tenth": round(last, 3), "growth": round(last - second, 3), "bound": bound}
        if last - second > bound:
            failed.append(f"{key} grew by {last - second:.1f}, the bound is {bound}")
    if soak.idle_after["files"] > soak.idle_before["files"]:
        failed.append(f"{soak.idle_after['files']} files are open after the last client left, {soak.idle_before['files']} were before")
    if soak.wrong:
        failed.append(f"{len(soak.wrong)} answers were wrong")
    if exit_code != 0:
        failed.append(f"the server ended with {exit_code}")
    return failed, figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--samebit", default=os.path.join(ROOT, "build", "release", "samebit"))
    parser.add_argument("--chat-template", default=os.path.join(ROOT, "tests", "server", "chatml_tools.jinja"),
                        help="one that tells about tools (default: that of tests/server)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--in-flight", type=int, default=16, help="clients that ask at once (default 16)")
    parser.add_argument("--cache-mib", type=int, default=256,
                        help="the server's KV budget; it must be full before the second tenth begins, after about 4 requests a MiB "
                             "(default 256)")
    parser.add_argument("--sample-every", type=int, help="requests (default: a fortieth of them)")
    parser.add_argument("--bound-mib", type=float, default=8, help="growth of the resident memory that is let pass (default 8)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="folder for the results (default: bench/runs/<date>-<machine>/soak_serve)")
    flags = parser.parse_args()
    flags.sample_every = flags.sample_every or max(1, flags.requests // 40)
    if flags.requests < 2 * flags.sample_every:
        parser.error("--requests: fewer than two samples")
    server = Serve(flags)
    try:
        soak = Soak(flags, server)
        soak.run()
        seconds = time.monotonic() - soak.start
    finally:
        exit_code = server.stop()
    failed, figures = verdict(flags, soak, exit_code)
    digest = hashlib.sha256("\n".join(soak.digests[k] for k in sorted(soak.digests)).encode()).hexdigest()
    machine = re.sub(r"[^a-z0-9]+", "-", cpu_model().lower()).strip("-")
    folder = flags.out or os.path.join(HERE, "runs", f"{datetime.date.today()}-{machine}", "soak_serve")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "memory.svg"), "w", encoding="utf-8") as file:
        file.write(drawing(soak.samples))
    with open(os.path.join(folder, "soak.json"), "w", encoding="utf-8") as file:
        json.dump({"schema": "samebit.serve_soak/1", "date": str(datetime.date.today()), "cpu": cpu_model(),
                   "model": os.path.basename(flags.model), "command": " ".join(["bench/soak_serve.py", *sys.argv[1:]]),
                   "seconds": round(seconds, 1), "requests": soak.finished, "in_flight": flags.in_flight, "kinds": soak.kinds,
                   "probes": len(PROBES), "log_lines": server.log_lines, "digest": digest, "figures": figures, "failed": failed,
                   "idle_before": soak.idle_before, "idle_after": soak.idle_after,
                   "wrong": soak.wrong[:100], "samples": soak.samples}, file, indent=1)
    print(f"{soak.finished} requests in {seconds:.0f} s, {soak.kinds.get('probe', 0)} of them probes, {len(soak.wrong)} wrong; digest {digest}")
    for key, figure in figures.items():
        print(f"{key}: {figure['second_tenth']} in the second tenth, {figure['last_tenth']} in the last; growth "
              f"{figure['growth']}, bound {figure['bound']}")
    for why in failed:
        print(f"FAILED: {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
