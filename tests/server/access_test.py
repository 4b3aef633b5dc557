#!/usr/bin/env python3
"""Who may ask and how: TLS, keys with limits, pages of other origins, answers that do not begin in time."""

import hashlib
import http.client
import json
import os
import pathlib
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import program
from clients_test import LONG, head, read_all
from program import JSON, Server


def make_certificate(folder, name="server", *more):
    """A key and a certificate for localhost that vouches for itself."""
    key, certificate = pathlib.Path(folder, f"{name}.key"), pathlib.Path(folder, f"{name}.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
                    "-out", certificate, *more], check=True, capture_output=True, timeout=60)
    return str(certificate), str(key)


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.certificate, cls.key = make_certificate(cls.folder.name)
        cls.context = ssl.create_default_context(cafile=cls.certificate)
        cls.server = Server("--tls-certificate", cls.certificate, "--tls-key", cls.key, "--idle-seconds", "3",
                            "--max-body-mib", "1").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.folder.cleanup()

    def connection(self):
        return http.client.HTTPSConnection("localhost", self.server.port, timeout=60, context=self.context)

    def secure(self, context=None):
        return (context or self.context).wrap_socket(self.server.socket(), server_hostname="localhost")

    def running(self):
        connection = self.connection()
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return int(text.split("\nsamebit:num_requests_running ")[1].split("\n")[0])

    def test_it_says_https_and_answers_many_requests_on_one_connection(self):
        self.assertTrue(any(" on https://" in line for line in self.server.lines))
        connection = self.connection()
        for _ in range(3):
            connection.request("POST", "/v1/completions", json.dumps({"prompt": "One two", "max_tokens": 3}), JSON)
            answer = json.loads(connection.getresponse().read())
            self.assertEqual(answer["usage"]["completion_tokens"], 3)
        connection.close()

    def test_curl_and_a_pipelining_client_are_answered(self):
        done = subprocess.run(["curl", "-sS", "--cacert", self.certificate, f"https://localhost:{self.server.port}/health"],
                              capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, b'{"status":"ok"}'), done.stderr)
        with self.secure() as raw:
            raw.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 3
                        + b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertEqual(read_all(raw).count(b"200 OK"), 4)

    def test_a_stream_is_whole(self):
        with self.secure() as raw:
            body = json.dumps({"prompt": "One two", "max_tokens": 20, "stream": True, "ignore_eos": True}).encode()
            raw.sendall(head("/v1/completions", body, b"Connection: close\r\n") + body)
            self.assertTrue(read_all(raw, 60).endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"))

    def test_a_client_that_leaves_frees_its_slot(self):
        for leave in (lambda raw: raw.close(), lambda raw: raw.shutdown(socket.SHUT_RDWR)):
            raw = self.secure()
            body = json.dumps({**LONG, "stream": True}).encode()
            raw.sendall(head("/v1/completions", body) + body)
            got = b""
            while got.count(b"data: ") < 2:
                got += raw.recv(4096)
            self.assertEqual(self.running(), 1)
            leave(raw)
            self.server.wait_for(lambda: self.running() == 0, 5, "an empty engine")

    def test_a_refusal_reaches_a_client_that_is_still_sending(self):
        with self.secure() as raw:
            raw.sendall(head("/v1/completions", b"x" * 3_000_000)[:400] + b"x" * 65536)
            self.assertIn(b" 413 ", read_all(raw).split(b"\r\n")[0])

    def test_versions_before_1_2_are_refused_and_1_2_and_1_3_are_taken(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl.create_default_context(cafile=self.certificate)
            context.minimum_version = context.maximum_version = version
            with self.secure(context) as raw:
                self.assertEqual(raw.version(), version.name.replace("_", "."))
        old = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{self.server.port}", "-tls1_1", "-cipher",
                              "ALL:@SECLEVEL=0"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertIn("alert protocol version", old.stderr)

    def test_http_1_1_is_agreed_on(self):
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_alpn_protocols(["h2", "http/1.1"])
        with self.secure(context) as raw:
            self.assertEqual(raw.selected_alpn_protocol(), "http/1.1")

    def test_what_is_no_handshake_is_closed_and_harms_nobody(self):
        for data in (b"GET /health HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"\x01" * 1000, bytes(64), b""):
            raw = self.server.socket()
            raw.sendall(data)
            if data:
                self.assertNotIn(b"200 OK", read_all(raw))
            raw.close()
        connection = self.connection()
        connection.request("GET", "/health")
        self.assertEqual(connection.getresponse().status, 200)

    def test_a_handshake_that_never_ends_is_cut_off_beside_working_neighbours(self):
        raws = [self.server.socket() for _ in range(20)]
        for raw in raws:
            self.addCleanup(raw.close)
            raw.sendall(b"\x16\x03\x01")
        begin = time.monotonic()
        connection = self.connection()
        connection.request("GET", "/health")
        self.assertEqual(connection.getresponse().status, 200)
        for raw in raws:
            self.assertEqual(read_all(raw, 30), b"")
        self.assertLess(time.monotonic() - begin, 20)


class WrongTls(unittest.TestCase):
    def test_bad_files_are_said_in_a_sentence_before_the_model_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = make_certificate(folder)
            _, other = make_certificate(folder, "other")
            locked = os.path.join(folder, "locked.key")
            subprocess.run(["openssl", "pkcs8", "-topk8", "-in", key, "-passout", "pass:secret", "-out", locked], check=True,
                           capture_output=True, timeout=60)
            empty = os.path.join(folder, "empty")
            pathlib.Path(empty).touch()
            for words in ([certificate, other], [certificate, locked], [certificate, "/does/not/exist"], ["/does/not/exist", key],
                          [empty, key], [certificate, certificate], [key, key], [folder, key]):
                with self.subTest(words):
                    done = subprocess.run([program.arguments.samebit, "serve", program.arguments.model, "--check-config",
                                           "--tls-certificate", words[0], "--tls-key", words[1]], capture_output=True, text=True,
                                          stdin=subprocess.DEVNULL, timeout=60)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertRegex(done.stderr, r"^error: TLS: .+\n$")
            for flag, path in (("--tls-key", key), ("--tls-certificate", certificate)):
                done = subprocess.run([program.arguments.samebit, "serve", program.arguments.model, flag, path],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertIn("beside it", done.stderr)


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = os.path.join(cls.folder.name, "keys.txt")
        with open(path, "w", encoding="ascii") as file:
            for name, limits in (("slow", "requests-per-minute=3"), ("narrow", "in-flight=2"), ("free", "requests-per-minute=0"),
                                 ("plain", "")):
                file.write(f"{name} {hashlib.sha256(name.encode()).hexdigest()} {limits}\n")
        cls.server = Server("--api-keys", path, "--key-requests-per-minute", "5", "--cors-origin", "https://page.example",
                            "--cors-origin", "http://localhost:3000").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.folder.cleanup()

    def ask(self, key, body=None, **headers):
        return self.server.ask("POST", "/v1/completions", body or {"prompt": "x", "max_tokens": 1},
                               {"Authorization": f"Bearer {key}", **headers})

    def test_a_key_has_its_own_rate_or_the_default_and_hears_when_to_come_again(self):
        for key, count in (("slow", 3), ("plain", 5)):
            for _ in range(count):
                self.assertEqual(self.ask(key).status, 200)
            refused = self.ask(key)
            self.assertEqual((refused.status, refused.error()["code"], refused.error()["type"]),
                             (429, "rate_limited", "rate_limit_error"))
            self.assertTrue(1 <= int(refused.headers["retry-after"]) <= 60 // count)
            look = self.server.ask("GET", "/v1/models", headers={"Authorization": f"Bearer {key}"})
            self.assertEqual(look.status, 200, "looking is free")
        for _ in range(8):
            self.assertEqual(self.ask("free").status, 200)

    def test_a_key_has_so_many_requests_in_flight_and_others_go_on(self):
        raws = []
        for _ in range(2):
            raw = self.server.socket()
            body = json.dumps(LONG).encode()
            raw.sendall(head("/v1/completions", body, b"Authorization: Bearer narrow\r\n") + body)
            raws.append(raw)
        def metric(name):
            text = self.server.ask("GET", "/metrics", headers={"Authorization": "Bearer free"}).body.decode()
            return float(text.split(f"\n{name} ")[1].split("\n")[0])
        self.server.wait_for(lambda: metric("samebit:num_requests_running") == 2)
        refused = self.ask("narrow")
        self.assertEqual((refused.status, refused.error()["code"]), (429, "too_many_in_flight"))
        self.assertEqual(refused.headers["retry-after"], "1")
        self.assertEqual(self.ask("free").status, 200)
        for raw in raws:
            raw.close()
        self.server.wait_for(lambda: self.ask("narrow").status == 200, 5, "a free place")

    def test_a_wrong_and_a_missing_key_get_the_same_answer(self):
        answers = []
        for headers in ({}, {"Authorization": "Bearer nope"}, {"Authorization": "Bearer slo"}, {"Authorization": "Basic slow"}):
            answer = self.server.ask("POST", "/v1/completions", {"prompt": "x"}, {**headers, "X-Request-Id": "r"})
            answers.append((answer.status, answer.headers, answer.body))
        self.assertEqual(answers[0][0], 401)
        self.assertEqual(answers[0][1]["www-authenticate"], "Bearer")
        self.assertTrue(all(answer == answers[0] for answer in answers))

    def test_pages_of_listed_origins_may_ask_and_others_may_not(self):
        asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization, content-type"}
        for origin in ("https://page.example", "http://localhost:3000"):
            before = self.server.ask("OPTIONS", "/v1/chat/completions", headers={"Origin": origin, **asks})
            self.assertEqual((before.status, before.headers["access-control-allow-origin"]), (200, origin))
            self.assertIn("Authorization", before.headers["access-control-allow-headers"])
            self.assertIn("POST", before.headers["access-control-allow-methods"])
            self.assertEqual(self.ask("free", Origin=origin).headers["access-control-allow-origin"], origin)
            self.assertEqual(self.server.ask("GET", "/v1/models", headers={"Origin": origin}).headers["vary"], "Origin")
        for origin in ("https://evil.example", "https://page.example.evil", "null", "http://page.example"):
            before = self.server.ask("OPTIONS", "/v1/chat/completions", headers={"Origin": origin, **asks})
            self.assertEqual(before.status, 401)
            for answer in (before, self.ask("free", Origin=origin)):
                self.assertFalse([name for name in answer.headers if name.startswith("access-control")])


class FirstByte(unittest.TestCase):
    def test_an_answer_that_does_not_begin_in_time_is_given_up_and_its_slot_is_free(self):
        with Server("--first-byte-seconds", "1") as server:
            running = lambda: server.metric("samebit:num_requests_running")
            begin = time.monotonic()
            late = server.ask("POST", "/v1/completions", LONG)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertEqual((late.status, late.error()["code"], late.error()["type"]), (503, "first_byte_timeout", "server_error"))
            self.assertGreaterEqual(int(late.headers["retry-after"]), 1)
            server.wait_for(lambda: running() == 0, 5, "an empty engine")
            # A stream that has begun may take its time.
            begin = time.monotonic()
            chunks = server.stream("/v1/completions", {**LONG, "max_tokens": 400})
            self.assertGreater(time.monotonic() - begin, 1)
            self.assertEqual(chunks[-1]["choices"][0]["finish_reason"], "length")
            self.assertEqual(server.metric('samebit:errors_total{code="first_byte_timeout"}'), 1)

    def test_without_origins_no_page_may_ask(self):
        with Server() as server:
            answer = server.ask("OPTIONS", "/v1/chat/completions", headers={"Origin": "https://a.example",
                                                                            "Access-Control-Request-Method": "POST"})
            self.assertEqual(answer.status, 405)
            self.assertFalse([name for name in answer.headers if name.startswith("access-control")])


if __name__ == "__main__":
    program.main()
