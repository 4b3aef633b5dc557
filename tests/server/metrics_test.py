#!/usr/bin/env python3
"""What the server says about itself: metrics as Prometheus' own parser reads them, and the lines of the access log."""

import json
import os
import unittest

from prometheus_client.parser import text_string_to_metric_families

import program
from program import Server, loads

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chatml_tools.jinja")
CHAT, OLD = "/v1/chat/completions", "/v1/completions"
# Of vLLM's metrics, with our prefix.
AS_VLLM = {"num_requests_running": "gauge", "num_requests_waiting": "gauge", "num_preemptions": "counter", "prompt_tokens": "counter",
           "generation_tokens": "counter", "prefix_cache_queries": "counter", "prefix_cache_hits": "counter",
           "request_success": "counter", "time_to_first_token_seconds": "histogram", "inter_token_latency_seconds": "histogram",
           "request_time_per_output_token_seconds": "histogram", "e2e_request_latency_seconds": "histogram",
           "request_prompt_tokens": "histogram", "request_generation_tokens": "histogram"}


class Observed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--served-model-name", "smol").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def families(self):
        text = self.server.ask("GET", "/metrics").body.decode()
        return {family.name: family for family in text_string_to_metric_families(text)}

    def value(self, name, **labels):
        for family in self.families().values():
            for sample in family.samples:
                if sample.name == name and sample.labels == labels:
                    return sample.value
        return 0

    def line(self, request_id):
        mark = f'"request_id":"{request_id}"'
        self.server.wait_for(lambda: any(mark in line for line in self.server.lines), what=f"the line of {request_id}")
        return loads(next(line for line in self.server.lines if mark in line))

    def test_vllms_names_are_there_with_vllms_types(self):
        families = self.families()
        self.assertEqual({name: families[f"samebit:{name}"].type for name in AS_VLLM}, AS_VLLM)
        self.assertEqual(families["samebit:token_margin"].type, "histogram")
        self.assertTrue(all(family.documentation for family in families.values()))

    def test_histograms_are_cumulative_and_agree_with_their_counts(self):
        self.server.stream(OLD, {"prompt": "One two", "max_tokens": 5})
        histograms = [family for family in self.families().values() if family.type == "histogram"]
        self.assertGreater(len(histograms), 6)
        for family in histograms:
            buckets = [(float(s.labels["le"]), s.value) for s in family.samples if s.name.endswith("_bucket")]
            self.assertEqual(buckets, sorted(buckets), family.name)
            self.assertEqual([value for _, value in buckets], sorted(value for _, value in buckets), family.name)
            count = next(s.value for s in family.samples if s.name.endswith("_count"))
            self.assertEqual(buckets[-1], (float("inf"), count), family.name)

    def test_an_answer_counts_its_tokens_margins_and_steps(self):
        names = ("samebit:prompt_tokens_total", "samebit:generation_tokens_total", "samebit:token_margin_count",
                 "samebit:prefix_cache_queries_total", "samebit:inter_token_latency_seconds_count",
                 "samebit:time_to_first_token_seconds_count", "samebit:request_generation_tokens_count")
        before = [self.value(name) for name in names]
        prompt = self.server.complete("One two three", max_tokens=1)["usage"]["prompt_tokens"]
        self.server.wait_for(lambda: self.value(names[1]) == before[1] + 1)
        self.assertEqual([self.value(n) - b for n, b in zip(names, before)], [prompt, 1, 1, prompt, 0, 0, 1])
        before = [self.value(name) for name in names]
        self.server.stream(OLD, {"prompt": "One two three", "max_tokens": 6, "ignore_eos": True})
        self.server.wait_for(lambda: self.value(names[1]) == before[1] + 6)
        self.assertEqual([self.value(n) - b for n, b in zip(names, before)][:4], [prompt, 6, 6, prompt])
        self.assertEqual([self.value(n) - b for n, b in zip(names, before)][5:], [1, 1])
        self.assertTrue(1 <= self.value(names[4]) - before[4] <= 5)
        self.assertGreater(self.value("samebit:token_margin_sum"), 0)

    def test_an_answer_that_ends_by_calls_is_counted_as_such(self):
        tool = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "additionalProperties": False}}}
        body = {"messages": [{"role": "user", "content": "What time is it?"}], "tools": [tool], "tool_choice": "required",
                "parallel_tool_calls": False}
        with Server("--chat-template", TEMPLATE) as server:
            text = lambda: server.ask("GET", "/metrics").body.decode()
            self.assertIn('samebit:request_success_total{finished_reason="tool_calls"} 0\n', text())
            self.assertEqual(server.post(CHAT, {**body, "max_tokens": 60})["choices"][0]["finish_reason"], "tool_calls")
            server.stream(CHAT, {**body, "max_tokens": 60})
            server.post(CHAT, {**body, "max_tokens": 3})
            for reason, count in (("tool_calls", 2), ("length", 1), ("stop", 0)):
                line = f'samebit:request_success_total{{finished_reason="{reason}"}} {count}\n'
                server.wait_for(lambda: line in text(), what=line)

    def test_refusals_and_errors_are_counted_by_their_codes(self):
        before = (self.value("samebit:refusals_total", code="seed_required"), self.value("samebit:errors_total", code="invalid_json"))
        self.server.ask("POST", OLD, {"prompt": "x", "temperature": 1})
        self.server.ask("POST", OLD, "{")
        after = lambda: (self.value("samebit:refusals_total", code="seed_required"),
                         self.value("samebit:errors_total", code="invalid_json"))
        self.server.wait_for(lambda: after() == (before[0] + 1, before[1] + 1))

    def test_the_log_has_opentelemetrys_names(self):
        self.server.ask("POST", CHAT, {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2, "n": 2, "seed": 1},
                        {"X-Request-Id": "names-1", "User-Agent": "test/1"})
        line = self.line("names-1")
        self.assertEqual({key: line[key] for key in ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model",
                                                     "gen_ai.response.finish_reasons", "http.response.status_code", "http.route",
                                                     "http.request.method", "url.path", "user_agent.original")},
                         {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "samebit", "gen_ai.request.model": "smol",
                          "gen_ai.response.finish_reasons": ["length", "length"], "http.response.status_code": 200,
                          "http.route": CHAT, "http.request.method": "POST", "url.path": CHAT, "user_agent.original": "test/1"})
        self.assertEqual(line["gen_ai.usage.output_tokens"], 4)
        self.assertGreater(line["gen_ai.usage.input_tokens"], 5)
        self.assertNotIn("samebit.request.body", line)
        self.server.ask("POST", OLD, {"prompt": "x", "temperature": 1}, {"X-Request-Id": "names-2"})
        self.assertEqual(self.line("names-2")["error.type"], "seed_required")

    def test_a_sane_request_id_is_echoed_and_another_is_replaced(self):
        for given in ("a", "0af7651916cd43dd8448eb211c80319c", "x" * 128, "a/b:c=d"):
            self.assertEqual(self.server.ask("GET", "/health", headers={"X-Request-Id": given}).headers["x-request-id"], given)
        for given in ("", "x" * 129, "two words", "tab\there", "\u00e4"):
            answered = self.server.ask("GET", "/health", headers={"X-Request-Id": given.encode("latin-1")}).headers["x-request-id"]
            self.assertRegex(answered, r"^req-[0-9a-f]{24}$")
        self.assertRegex(self.server.ask("GET", "/nope").headers["x-request-id"], r"^req-")

    def test_nothing_that_a_client_wrote_stands_unescaped_in_the_log(self):
        wild = b'"\\},{"forged":true}\t[2J\x9b\xe2\x80\xa8 \xff'
        with self.server.socket() as raw:
            raw.sendall(b"GET /wild%0a%1b HTTP/1.1\r\nUser-Agent: " + wild + b"\r\nX-Request-Id: wild-1\r\nConnection: close\r\n\r\n")
            raw.recv(4096)
        line = self.line("wild-1")
        self.assertIn("forged", line["user_agent.original"])
        self.assertNotIn("forged", line)
        shown = next(line for line in self.server.lines if "wild-1" in line)
        self.assertTrue(all(ord(c) >= 0x20 and ord(c) != 0x7f for c in shown), shown)
        for target in (b'/"},{"forged":1}', b"/\xff\xfe", b"/<script>"):
            with self.server.socket() as raw:
                raw.sendall(b"GET " + target + b" HTTP/1.1\r\nConnection: close\r\n\r\n")
                raw.recv(4096)
        self.server.ask("GET", "/last", headers={"X-Request-Id": "wild-2"})
        self.line("wild-2")
        for line in self.server.lines:
            if line.startswith("{"):
                self.assertNotIn("forged", loads(line))

    def test_prompts_are_logged_only_where_the_operator_asks_and_then_escaped_and_cut(self):
        secret = "very-secret\n{\"forged\":1}\u001b"
        self.server.complete(secret, max_tokens=1)
        self.server.ask("GET", "/last", headers={"X-Request-Id": "quiet-1"})
        self.line("quiet-1")
        self.assertFalse(any("very-secret" in line for line in self.server.lines))
        with Server("--log-prompts") as server:
            server.ask("POST", OLD, {"prompt": secret, "max_tokens": 1}, {"X-Request-Id": "loud-1"})
            server.ask("POST", OLD, json.dumps({"prompt": secret + "x" * 1_000_000}), {"X-Request-Id": "loud-2"})
            server.wait_for(lambda: any("loud-2" in line for line in server.lines))
            line = loads(next(line for line in server.lines if "loud-1" in line))
            self.assertEqual(loads(line["samebit.request.body"])["prompt"], secret)
            self.assertLess(max(len(line) for line in server.lines), 100_000)


if __name__ == "__main__":
    program.main()
