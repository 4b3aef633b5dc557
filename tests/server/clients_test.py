#!/usr/bin/env python3
"""Clients that are slow, gone or hostile hold up nobody; the queue has an end; keys are needed where they are set."""

import hashlib
import json
import os
import socket
import struct
import tempfile
import time
import unittest

import program
from program import Server, at_once, whole

LONG = {"prompt": "Once upon a time", "max_tokens": 2000, "ignore_eos": True}


def head(path, body, extra=b""):
    return (b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
            % (path.encode(), len(body), extra))


def begin_stream(server, **fields):
    """A socket on which a long stream has begun."""
    raw = server.socket()
    body = json.dumps({**LONG, "stream": True, **fields}).encode()
    raw.sendall(head("/v1/completions", body) + body)
    got = b""
    while got.count(b"data: ") < 3:
        piece = raw.recv(4096)
        assert piece, got
        got += piece
    return raw


def read_all(raw, seconds=15):
    raw.settimeout(seconds)
    got = b""
    try:
        while piece := raw.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    return got


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--max-sequences", "4", "--queue", "4", "--header-seconds", "1", "--idle-seconds", "2",
                            "--max-body-mib", "1", "--max-connections", "200").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def in_flight(self):
        return self.server.metric("samebit:num_requests_running") + self.server.metric("samebit:num_requests_waiting")

    def wait_until_idle(self):
        self.server.wait_for(lambda: self.in_flight() == 0, 5, "an empty engine")

    def test_a_client_that_leaves_frees_its_slot_within_a_step(self):
        raw = begin_stream(self.server)
        self.assertEqual(self.in_flight(), 1)
        steps = self.server.metric("samebit:engine_steps_total")
        raw.close()
        self.wait_until_idle()
        # It stopped long before its 2,000 tokens.
        self.assertLess(self.server.metric("samebit:engine_steps_total") - steps, 500)

    def test_a_client_that_leaves_before_its_whole_answer_frees_its_slot(self):
        raw = self.server.socket()
        body = json.dumps(LONG).encode()
        raw.sendall(head("/v1/completions", body) + body)
        self.server.wait_for(lambda: self.in_flight() == 1)
        raw.close()
        self.wait_until_idle()

    def test_a_reset_frees_the_slot_too(self):
        raw = begin_stream(self.server)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()
        self.wait_until_idle()

    def test_a_storm_of_clients_that_leave_harms_nobody(self):
        alone = whole(self.server.complete("The sea is", max_tokens=40, return_token_ids=True, logprobs=1))
        for _ in range(5):
            for raw in [begin_stream(self.server, n=1) for _ in range(3)]:
                raw.close()
            answer = self.server.complete("The sea is", max_tokens=40, return_token_ids=True, logprobs=1)
            self.assertEqual(whole(answer), alone)
        self.wait_until_idle()

    def test_a_client_that_does_not_read_stalls_no_neighbour(self):
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", self.server.port))
        # Large chunks, so that its buffers are full soon.
        body = json.dumps({**LONG, "stream": True, "logprobs": 64, "max_tokens": 1500}).encode()
        raw.sendall(head("/v1/completions", body) + body)
        self.server.wait_for(lambda: self.in_flight() == 1)
        for _ in range(3):
            begin = time.monotonic()
            chunks = self.server.stream("/v1/completions", {"prompt": "The sea is", "max_tokens": 20})
            self.assertEqual(chunks[-1]["choices"][0]["finish_reason"], "length")
            self.assertLess(time.monotonic() - begin, 10)
        raw.close()
        self.wait_until_idle()

    def test_a_full_queue_refuses_with_retry_after_and_takes_work_again(self):
        streams = [begin_stream(self.server) for _ in range(4)]
        waiting = []
        for _ in range(4):
            raw = self.server.socket()
            body = json.dumps(LONG).encode()
            raw.sendall(head("/v1/completions", body) + body)
            waiting.append(raw)
        self.server.wait_for(lambda: self.in_flight() == 8)
        refused = self.server.ask("POST", "/v1/completions", LONG)
        self.assertEqual((refused.status, refused.error()["code"]), (429, "capacity"))
        self.assertGreaterEqual(int(refused.headers["retry-after"]), 1)
        self.assertEqual(refused.headers["x-reproducibility-error"], "capacity")
        for raw in streams + waiting:
            raw.close()
        self.wait_until_idle()
        self.assertTrue(self.server.complete("x", max_tokens=1))

    def test_a_trickle_of_headers_is_cut_off_in_time(self):
        others = at_once([lambda: self.trickle() for _ in range(20)] + [lambda: self.server.complete("x", max_tokens=2)])
        self.assertTrue(others[-1]["choices"])
        for seconds, got in others[:-1]:
            self.assertLess(seconds, 5)
            self.assertTrue(got == b"" or b" 408 " in got.split(b"\r\n")[0], got)

    def trickle(self):
        raw = self.server.socket()
        begin = time.monotonic()
        try:
            for byte in b"GET /health HTTP/1.1\r\nX-Slow: " + b"a" * 10_000:
                raw.sendall(bytes([byte]))
                raw.settimeout(0.1)
                try:
                    return time.monotonic() - begin, raw.recv(4096)
                except TimeoutError:
                    pass
        except OSError:
            return time.monotonic() - begin, b""
        finally:
            raw.close()

    def test_idle_connections_are_closed_and_cost_nothing(self):
        raws = [self.server.socket() for _ in range(100)]
        self.assertEqual(len(self.server.complete("x", max_tokens=2)["choices"]), 1)
        begin = time.monotonic()
        for raw in raws:
            self.assertEqual(read_all(raw), b"")
        self.assertLess(time.monotonic() - begin, 10)

    def test_too_many_connections_are_told_so(self):
        raws = [self.server.socket() for _ in range(230)]
        told = 0
        for raw in raws[200:]:
            told += b" 503 " in read_all(raw)
        for raw in raws:
            raw.close()
        self.assertGreater(told, 20)
        self.server.wait_for(lambda: self.server.ask("GET", "/health").status == 200)

    def test_bytes_that_are_no_request_get_an_error_and_are_closed(self):
        cases = [(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), 400),  # TLS
                 (b"GARBAGE\r\n\r\n", 400),
                 (b"GET / HTTP/9.9\r\n\r\n", 400),
                 (b"GET /health HTTP/1.1\r\nbad header\r\n\r\n", 400),
                 (b"GET /health HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", 431),
                 (b"".join([b"GET /health HTTP/1.1\r\n"] + [b"X%d: y\r\n" % i for i in range(5000)]) + b"\r\n", 431),
                 (head("/v1/completions", b"x" * 3_000_000), 413),
                 (b"POST /v1/completions HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400),
                 (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
                 (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
                 (b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400)]
        for data, status in cases:
            with self.subTest(data[:60]), self.server.socket() as raw:
                raw.sendall(data)
                got = read_all(raw)
                first, _, rest = got.partition(b"\r\n")
                self.assertIn(b" %d " % status, first)
                self.assertIn("error", json.loads(rest.split(b"\r\n\r\n", 1)[1]))

    def test_a_chunked_body_without_an_end_is_refused_at_the_limit(self):
        with self.server.socket() as raw:
            raw.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            sent = 0
            try:
                while sent < 50 << 20:
                    raw.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
                    sent += 65536
            except OSError:
                pass
            self.assertLess(sent, 20 << 20)
        with self.server.socket() as raw:
            raw.sendall(b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + b"10000\r\n" + b"x" * 65536 + b"\r\n" + b"fffff\r\n" + b"y" * 0xfffff + b"\r\n")
            self.assertIn(b" 413 ", read_all(raw).split(b"\r\n")[0])

    def test_a_body_is_taken_in_pieces_and_after_a_continue(self):
        body = json.dumps({"prompt": "x", "max_tokens": 1}).encode()
        with self.server.socket() as raw:
            raw.sendall(head("/v1/completions", body, b"Expect: 100-continue\r\nConnection: close\r\n"))
            self.assertTrue(raw.recv(100).startswith(b"HTTP/1.1 100"))
            for byte in body:
                raw.sendall(bytes([byte]))
            self.assertIn(b" 200 ", read_all(raw).split(b"\r\n")[0])

    def test_half_a_request_leaves_nothing_behind(self):
        body = json.dumps(LONG).encode()
        whole_request = head("/v1/completions", body) + body
        for cut in range(0, len(whole_request), 7):
            raw = self.server.socket()
            raw.sendall(whole_request[:cut])
            raw.close()
        self.wait_until_idle()
        self.assertTrue(self.server.complete("x", max_tokens=1))


class Keys(unittest.TestCase):
    def test_only_who_has_a_key_may_ask(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys.txt")
            with open(path, "w", encoding="ascii") as file:
                file.write("# two of them\n")
                for name in ("alice", "bob"):
                    file.write(f"{name} {hashlib.sha256(f'key-of-{name}'.encode()).hexdigest()}\n")
            with Server("--api-keys", path) as server:
                for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "key-of-alice"},
                                {"Authorization": "Bearer "}, {"Authorization": "Bearer key-of-alicE"}):
                    answer = server.ask("GET", "/v1/models", headers=headers)
                    self.assertEqual((answer.status, answer.error()["code"]), (401, "invalid_api_key"), headers)
                self.assertEqual(server.ask("GET", "/nope").status, 401)
                self.assertEqual(server.ask("GET", "/health").status, 200)
                for name in ("alice", "bob"):
                    headers = {"Authorization": f"Bearer key-of-{name}"}
                    self.assertEqual(server.ask("GET", "/v1/models", headers=headers).status, 200)
                server.wait_for(lambda: any('"key":"bob"' in line for line in server.lines))
                self.assertFalse(any("key-of-" in line for line in server.lines))


if __name__ == "__main__":
    program.main()
