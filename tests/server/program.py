"""Starts `samebit serve` and asks it, for the tests of this folder."""

import argparse
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

arguments = None
JSON = {"Content-Type": "application/json"}


def main():
    global arguments
    parser = argparse.ArgumentParser()
    parser.add_argument("--samebit", required=True)
    parser.add_argument("--model", required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


def without_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
    return dict(pairs)


def loads(text):
    return json.loads(text, object_pairs_hook=without_duplicates)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return loads(self.body)

    def error(self):
        error = self.json()["error"]
        assert {"message", "type", "param", "code"} <= set(error), error
        return error


class Server:
    """A running server; a context manager that stops it. model "": another setting names it."""

    def __init__(self, *words, model=None):
        named = [arguments.model] if model is None else [model] if model else []
        command = [arguments.samebit, "serve", *named, "--port", "0", *map(str, words)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = []
        self.port = None
        started = threading.Event()
        self.reader = threading.Thread(target=self._read, args=(started,), daemon=True)
        self.reader.start()
        if not started.wait(120) or self.port is None:
            raise AssertionError("the server did not start: " + "\n".join(self.lines))

    def _read(self, started):
        for line in self.process.stderr:
            line = line.decode("utf-8", "strict").rstrip("\n")
            self.lines.append(line)
            found = re.search(r"serving .* on https?://[^ ]*:(\d+)/v1$", line)
            if found:
                self.port = int(found.group(1))
                started.set()
        started.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)
        self.reader.join(10)
        self.process.stderr.close()
        self.process.stdout.close()

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, timeout=60):
        code = self.process.wait(timeout)
        self.reader.join(10)
        return code

    def connection(self, timeout=120):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self, timeout=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        """One request on its own connection. body: an object for JSON, bytes or text as they are."""
        connection = self.connection()
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        given = dict(JSON if body is not None else {})
        given.update(headers or {})
        try:
            connection.request(method, path, body=body, headers=given)
            response = connection.getresponse()
            return Answer(response.status, dict((k.lower(), v) for k, v in response.getheaders()), response.read())
        finally:
            connection.close()

    def post(self, path, body, headers=None):
        answer = self.ask("POST", path, body, headers)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json()

    def chat(self, content, **fields):
        return self.post("/v1/chat/completions", {"messages": [{"role": "user", "content": content}], **fields})

    def complete(self, prompt, **fields):
        return self.post("/v1/completions", {"prompt": prompt, **fields})

    def stream(self, path, body):
        """The chunks of a stream that must end well."""
        connection = self.connection()
        try:
            connection.request("POST", path, body=json.dumps({**body, "stream": True}), headers=JSON)
            response = connection.getresponse()
            assert response.status == 200, (response.status, response.read())
            assert response.getheader("Content-Type").startswith("text/event-stream")
            text = response.read().decode("utf-8", "strict")
        finally:
            connection.close()
        events = text.split("\n\n")
        assert events.pop() == "", "the last event is not ended"
        assert events.pop() == "data: [DONE]", events[-1:]
        assert all(event.startswith("data: ") and "\n" not in event for event in events)
        return [loads(event[6:]) for event in events]

    def metric(self, name):
        text = self.ask("GET", "/metrics").body.decode()
        return float(re.search(rf"^{re.escape(name)} ([0-9.e+-]+)$", text, re.M).group(1))

    def wait_for(self, condition, seconds=20, what="it"):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{what} did not happen in {seconds} s"
            time.sleep(0.02)


def at_once(jobs):
    """Runs the functions in threads that start together; their results in order."""
    results, failures = [None] * len(jobs), []
    gate = threading.Barrier(len(jobs))

    def run(index, job):
        gate.wait()
        try:
            results[index] = job()
        except BaseException as failure:  # shown by the assertion below
            failures.append(failure)

    threads = [threading.Thread(target=run, args=item) for item in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    return results


def gathered(chunks):
    """The choices of a chat or completions stream, put together by index."""
    choices = {}
    for chunk in chunks:
        for part in chunk["choices"]:
            choice = choices.setdefault(part["index"], {"text": "", "ids": [], "logprobs": [], "finish_reason": None})
            delta = part.get("delta", {})
            choice["text"] += part.get("text", "") or delta.get("content", "") or ""
            choice["ids"] += part.get("token_ids") or []
            choice["logprobs"] += logprobs_of(part)
            if part["finish_reason"] is not None:
                assert choice["finish_reason"] is None, "two finish chunks"
                choice["finish_reason"] = part["finish_reason"]
    return choices


def logprobs_of(choice):
    """(token, logprob, top) per token, of either endpoint."""
    logprobs = choice.get("logprobs")
    if not logprobs:
        return []
    if "content" in logprobs:
        return [(t["token"], t["logprob"], [(o["token"], o["logprob"]) for o in t["top_logprobs"]])
                for t in logprobs["content"]]
    return list(zip(logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"], strict=True))


def whole(answer):
    """The choices of an unstreamed answer in the form of gathered()."""
    return {c["index"]: {"text": c["text"] if "text" in c else c["message"]["content"], "ids": c.get("token_ids") or [],
                         "logprobs": logprobs_of(c), "finish_reason": c["finish_reason"]} for c in answer["choices"]}
