#!/usr/bin/env python3
"""SIGTERM: no new work, what is in flight ends well within the limit, and with a clear error beyond it."""

import json
import subprocess
import time
import unittest

import program
from program import Server, loads
from clients_test import begin_stream, head, read_all


def refused(server):
    try:
        server.socket(2).close()
    except ConnectionRefusedError:
        return True
    return False


class Stop(unittest.TestCase):
    def test_an_idle_server_stops_at_once_also_with_open_connections(self):
        with Server() as server:
            connection = server.connection()
            connection.request("GET", "/health")
            connection.getresponse().read()
            begin = time.monotonic()
            server.terminate()
            self.assertEqual(server.wait(), 0)
            self.assertLess(time.monotonic() - begin, 5)
            connection.close()

    def test_work_in_flight_is_finished_and_new_work_is_not_taken(self):
        with Server("--stop-seconds", "60") as server:
            kept = server.connection()
            kept.request("GET", "/health")
            kept.getresponse().read()
            stream = begin_stream(server, max_tokens=400)
            waiting = server.socket()
            body = json.dumps({"prompt": "x", "max_tokens": 300, "ignore_eos": True}).encode()
            waiting.sendall(head("/v1/completions", body) + body)
            server.wait_for(lambda: server.metric("samebit:num_requests_running") == 2)
            server.terminate()
            server.wait_for(lambda: any("stopping" in line for line in server.lines))
            server.wait_for(lambda: refused(server), what="a closed door")
            self.assertTrue(read_all(stream, 60).endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"))
            whole = read_all(waiting, 60)
            self.assertIn(b"200 OK", whole)
            self.assertIn(b"Connection: close", whole)
            self.assertEqual(loads(whole.split(b"\r\n\r\n", 1)[1])["usage"]["completion_tokens"], 300)
            self.assertEqual(server.wait(), 0)
            self.assertTrue(server.lines[-1].endswith("stopped"))

    def test_streams_beyond_the_limit_end_with_an_error_event(self):
        with Server("--stop-seconds", "0") as server:
            streams = [begin_stream(server, max_tokens=4000) for _ in range(5)]
            waiting = server.socket()
            body = json.dumps({"prompt": "x", "max_tokens": 4000, "ignore_eos": True}).encode()
            waiting.sendall(head("/v1/completions", body) + body)
            server.wait_for(lambda: server.metric("samebit:num_requests_running") == 6)
            server.terminate()
            for stream in streams:
                text = read_all(stream)
                self.assertNotIn(b"[DONE]", text)
                last = [line for line in text.split(b"\n") if line.startswith(b"data: ")][-1]
                self.assertEqual(loads(last[6:])["error"]["code"], "server_stopping")
                self.assertTrue(text.endswith(b"0\r\n\r\n"))
            answer = read_all(waiting)
            self.assertIn(b" 503 ", answer.split(b"\r\n")[0])
            self.assertEqual(server.wait(), 0)

    def test_two_servers_cannot_have_one_port_and_the_second_says_why(self):
        with Server() as server:
            second = subprocess.run([program.arguments.samebit, "serve", program.arguments.model, "--port", str(server.port)],
                                    capture_output=True, timeout=60)
            self.assertEqual(second.returncode, 2)
            self.assertIn(b"cannot", second.stderr)
            self.assertIn(str(server.port).encode(), second.stderr)

    def test_a_wrong_host_tier_or_key_file_is_said_before_the_model_is_read(self):
        for words in (["--host", "nowhere.example"], ["--default-tier", "9"], ["--api-keys", "/does/not/exist"],
                      ["--temperature", "0.001"]):
            done = subprocess.run([program.arguments.samebit, "serve", program.arguments.model, "--port", "0", *words],
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 2, words)


if __name__ == "__main__":
    program.main()
