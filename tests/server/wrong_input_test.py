#!/usr/bin/env python3
"""What is refused, with which status, code and param. Every row must be a 4xx with OpenAI's error object."""

import json
import unittest

import program
from program import Server

CHAT, OLD = "/v1/chat/completions", "/v1/completions"
USER = [{"role": "user", "content": "hi"}]
DEEP = 100_000

# path, body (an object, merged into a valid request; or text as it is), status, code, param
TABLE = [
    (CHAT, "", 400, "invalid_json", None),
    (CHAT, "{", 400, "invalid_json", None),
    (CHAT, "[]", 400, "invalid_type", None),
    (CHAT, '"text"', 400, "invalid_type", None),
    (CHAT, '{"messages":[],"messages":[]}', 400, "invalid_json", None),
    (CHAT, '{"messages":[{"role":"user","content":"\\ud800"}]}', 400, "invalid_json", None),
    (CHAT, b'{"messages":[{"role":"user","content":"\xff"}]}', 400, "invalid_json", None),
    (CHAT, '{"temperature":NaN,"messages":[]}', 400, "invalid_json", None),
    (CHAT, '{"temperature":1e999,"messages":[]}', 400, "invalid_json", None),
    (CHAT, "[" * DEEP, 400, "too_large", None),
    (CHAT, '{"a":' * DEEP, 400, "too_large", None),
    (CHAT, '{"messages":[]} x', 400, "invalid_json", None),
    (CHAT, {"model": "gpt-4"}, 404, "model_not_found", "model"),
    (CHAT, {"model": 5}, 400, "invalid_type", "model"),
    (CHAT, {"messages": None}, 400, "missing_required_parameter", "messages"),
    (CHAT, {"messages": []}, 400, "invalid_value", "messages"),
    (CHAT, {"messages": "hi"}, 400, "invalid_type", "messages"),
    (CHAT, {"messages": ["hi"]}, 400, "invalid_type", "messages[0]"),
    (CHAT, {"messages": [{"content": "x"}]}, 400, "invalid_value", "messages[0].role"),
    (CHAT, {"messages": [{"role": "wizard", "content": "x"}]}, 400, "invalid_value", "messages[0].role"),
    (CHAT, {"messages": [{"role": "user"}]}, 400, "invalid_value", "messages[0].content"),
    (CHAT, {"messages": [{"role": "user", "content": 5}]}, 400, "invalid_type", "messages[0].content"),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, 400,
     "unsupported_parameter", "messages[0].content[0].type"),
    (CHAT, {"messages": [{"role": "user", "content": [{"type": "text"}]}]}, 400, "invalid_value", "messages[0].content[0].text"),
    (CHAT, {"messages": [{"role": "function", "content": "x"}]}, 400, "unsupported_parameter", "messages[0].role"),
    (CHAT, {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]}, 400,
     "unsupported_parameter", "messages[0].tool_calls"),
    (CHAT, {"messages": [{"role": "user", "content": "x", "name": "Bob"}]}, 400, "unsupported_parameter", "messages[0].name"),
    (CHAT, {"messages": [{"role": "user", "content": "x", "mood": "sad"}]}, 400, "unsupported_parameter", "messages[0].mood"),
    (CHAT, {"temperature": -1}, 400, "invalid_value", "temperature"),
    (CHAT, {"temperature": 0.001}, 400, "invalid_value", "temperature"),
    (CHAT, {"temperature": 101}, 400, "invalid_value", "temperature"),
    (CHAT, {"temperature": "hot"}, 400, "invalid_type", "temperature"),
    (CHAT, {"temperature": True}, 400, "invalid_type", "temperature"),
    (CHAT, {"temperature": 1}, 400, "seed_required", "seed"),
    (CHAT, {"top_p": 0}, 400, "invalid_value", "top_p"),
    (CHAT, {"top_p": 1.1}, 400, "invalid_value", "top_p"),
    (CHAT, {"top_k": -2}, 400, "invalid_value", "top_k"),
    (CHAT, {"top_k": 1.5}, 400, "invalid_value", "top_k"),
    (CHAT, {"min_p": 1}, 400, "invalid_value", "min_p"),
    (CHAT, {"repetition_penalty": 0}, 400, "invalid_value", "repetition_penalty"),
    (CHAT, {"presence_penalty": 3}, 400, "invalid_value", "presence_penalty"),
    (CHAT, {"frequency_penalty": -3}, 400, "invalid_value", "frequency_penalty"),
    (CHAT, {"logit_bias": []}, 400, "invalid_type", "logit_bias"),
    (CHAT, {"logit_bias": {"x": 1}}, 400, "invalid_value", "logit_bias"),
    (CHAT, {"logit_bias": {"01": 1}}, 400, "invalid_value", "logit_bias"),
    (CHAT, {"logit_bias": {"99999999": 1}}, 400, "invalid_value", "logit_bias"),
    (CHAT, {"logit_bias": {"5": 101}}, 400, "invalid_value", "logit_bias.5"),
    (CHAT, {"seed": -1}, 400, "invalid_value", "seed"),
    (CHAT, {"seed": 1.5}, 400, "invalid_value", "seed"),
    (CHAT, {"seed": "0x5"}, 400, "invalid_value", "seed"),
    (CHAT, {"seed": "18446744073709551616"}, 400, "invalid_value", "seed"),
    (CHAT, {"n": 0}, 400, "invalid_value", "n"),
    (CHAT, {"n": 1000}, 400, "invalid_value", "n"),
    (CHAT, {"stop": ""}, 400, "invalid_value", "stop"),
    (CHAT, {"stop": ["a", ""]}, 400, "invalid_value", "stop[1]"),
    (CHAT, {"stop": [5]}, 400, "invalid_type", "stop[0]"),
    (CHAT, {"stop": 5}, 400, "invalid_type", "stop"),
    (CHAT, {"stop": ["x"] * 10_000}, 400, "invalid_value", "stop"),
    (CHAT, {"stop": "x" * 10_000}, 400, "invalid_value", "stop"),
    (CHAT, {"stop_token_ids": [-1]}, 400, "invalid_type", "stop_token_ids[0]"),
    (CHAT, {"stop_token_ids": [10**8]}, 400, "invalid_value", "stop_token_ids"),
    (CHAT, {"max_tokens": 0}, 400, "invalid_value", "max_tokens"),
    (CHAT, {"max_tokens": 100_000}, 400, "context_length_exceeded", "messages"),
    (CHAT, {"max_tokens": 10**30}, 400, "invalid_value", "max_tokens"),
    (CHAT, {"max_tokens": 5, "max_completion_tokens": 6}, 400, "invalid_value", "max_completion_tokens"),
    (CHAT, {"min_tokens": 9, "max_tokens": 5}, 400, "invalid_value", "min_tokens"),
    (CHAT, {"messages": [{"role": "user", "content": "word " * 9000}]}, 400, "context_length_exceeded", "messages"),
    (CHAT, {"logprobs": 3}, 400, "invalid_type", "logprobs"),
    (CHAT, {"top_logprobs": 3}, 400, "invalid_value", "top_logprobs"),
    (CHAT, {"logprobs": True, "top_logprobs": 65}, 400, "invalid_value", "top_logprobs"),
    (CHAT, {"stream": "yes"}, 400, "invalid_type", "stream"),
    (CHAT, {"stream_options": {"include_usage": True}}, 400, "invalid_value", "stream_options"),
    (CHAT, {"stream": True, "stream_options": {"speed": 9}}, 400, "unsupported_parameter", "stream_options.speed"),
    (CHAT, {"reproducibility_tier": 3}, 400, "invalid_value", "reproducibility_tier"),
    (CHAT, {"metadata": {"reproducibility_tier": "best"}}, 400, "invalid_value", "metadata.reproducibility_tier"),
    (CHAT, {"metadata": 5}, 400, "invalid_type", "metadata"),
    (CHAT, {"reproducibility": {"fingerprint": "abc"}}, 400, "invalid_value", "reproducibility.fingerprint"),
    (CHAT, {"reproducibility": {"colour": "blue"}}, 400, "unsupported_parameter", "reproducibility.colour"),
    (CHAT, {"reproducibility": {"model_sha256": "0" * 64}}, 409, "fingerprint_mismatch", "reproducibility.model_sha256"),
    (CHAT, {"reproducibility": {"fingerprint": "sha256:" + "0" * 64}}, 409, "fingerprint_mismatch", "reproducibility.fingerprint"),
    (CHAT, {"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, "unsupported_parameter", "tools"),
    (CHAT, {"tool_choice": "auto"}, 400, "invalid_value", "tool_choice"),
    (OLD, {"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, "unsupported_parameter", "tools"),
    (CHAT, {"response_format": {"type": "json"}}, 400, "invalid_value", "response_format.type"),
    (CHAT, {"response_format": {"type": "json_schema", "json_schema": {}}}, 400, "invalid_value",
     "response_format.json_schema.name"),
    (CHAT, {"prompt_template": {"name": "x"}}, 400, "unsupported_parameter", "prompt_template"),
    (CHAT, {"store": True}, 400, "unsupported_parameter", "store"),
    (CHAT, {"modalities": ["audio"]}, 400, "unsupported_parameter", "modalities"),
    (CHAT, {"reasoning_effort": "high"}, 400, "unsupported_parameter", "reasoning_effort"),
    (CHAT, {"echo": True}, 400, "unsupported_parameter", "echo"),
    (CHAT, {"best_of": 3}, 400, "unsupported_parameter", "best_of"),
    (CHAT, {"use_beam_search": True, "best_of": 65}, 400, "invalid_value", "best_of"),
    (CHAT, {"use_beam_search": True, "best_of": 2, "temperature": 1}, 400, "invalid_value", "temperature"),
    (CHAT, {"colour": "blue"}, 400, "unsupported_parameter", "colour"),
    (CHAT, {"skip_special_tokens": False}, 400, "unsupported_parameter", "skip_special_tokens"),
    (CHAT, {"prompt_template": {"version": "1"}}, 400, "missing_required_parameter", "prompt_template.name"),
    (OLD, {"prompt_template": {"name": "x", "version": "1"}}, 400, "unsupported_parameter", "prompt_template"),
    (OLD, {"prompt": None}, 400, "missing_required_parameter", "prompt"),
    (OLD, {"prompt": ""}, 400, "invalid_value", "prompt"),
    (OLD, {"prompt": []}, 400, "invalid_value", "prompt"),
    (OLD, {"prompt": [[]]}, 400, "invalid_value", "prompt"),
    (OLD, {"prompt": [["x"]]}, 400, "invalid_value", "prompt[0][0]"),
    (OLD, {"prompt": [1, "x"]}, 400, "invalid_value", "prompt[1]"),
    (OLD, {"prompt": [10**8]}, 400, "invalid_value", "prompt[0]"),
    (OLD, {"prompt": [-1]}, 400, "invalid_value", "prompt[0]"),
    (OLD, {"prompt": {"text": "x"}}, 400, "invalid_value", "prompt"),
    (OLD, {"prompt": ["a", 5]}, 400, "invalid_type", "prompt[1]"),
    (OLD, {"prompt": ["x"] * 2000}, 400, "invalid_value", "prompt"),
    (OLD, {"max_tokens": 0}, 400, "invalid_value", "max_tokens"),
    (OLD, {"logprobs": 65}, 400, "invalid_value", "logprobs"),
    (OLD, {"suffix": "end"}, 400, "unsupported_parameter", "suffix"),
    (OLD, {"stream": True, "echo": True, "logprobs": 1}, 400, "unsupported_parameter", "stream"),
    (OLD, {"stream": True, "prompt_logprobs": 1}, 400, "unsupported_parameter", "prompt_logprobs"),
    ("/tokenize", "{}", 400, "missing_required_parameter", "messages"),
    ("/tokenize", '{"prompt":5}', 400, "invalid_type", "prompt"),
    ("/detokenize", "{}", 400, "missing_required_parameter", "tokens"),
    ("/detokenize", '{"tokens":[99999999]}', 400, "invalid_value", "tokens[0]"),
    ("/detokenize", '{"tokens":"x"}', 400, "invalid_type", "tokens"),
]


class WrongInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_each_row_is_refused_by_name(self):
        for path, fields, status, code, param in TABLE:
            valid = {"messages": USER, "max_tokens": 4} if path == CHAT else {"prompt": "hi", "max_tokens": 4}
            body = json.dumps({**valid, **fields}) if isinstance(fields, dict) else fields
            with self.subTest(str(body)[:100]):
                answer = self.server.ask("POST", path, body)
                error = answer.error()
                self.assertEqual((answer.status, error["code"], error["param"]), (status, code, param), error)
                self.assertLess(len(answer.body), 2000)
                refusal = code in ("unsupported_parameter", "seed_required", "fingerprint_mismatch", "forbidden_feature")
                self.assertEqual(answer.headers.get("x-reproducibility-error"), code if refusal else None)

    def test_a_wrong_tier_header_is_named(self):
        answer = self.server.ask("POST", CHAT, {"messages": USER}, {"X-Reproducibility-Tier": "3"})
        self.assertEqual((answer.status, answer.error()["param"]), (400, "X-Reproducibility-Tier"))

    def test_a_body_that_does_not_say_json_is_refused(self):
        answer = self.server.ask("POST", CHAT, '{"messages":[]}', {"Content-Type": "text/plain"})
        self.assertEqual((answer.status, answer.error()["code"]), (415, "unsupported_media_type"))

    def test_null_counts_as_absent(self):
        answer = self.server.post(CHAT, {"messages": USER, "max_tokens": 1, "temperature": None, "stop": None, "tools": None,
                                         "stream_options": None, "response_format": None, "seed": None})
        self.assertEqual(answer["reproducibility"]["effective_sampling"]["temperature"]["source"], "server")

    def test_what_changes_nothing_is_let_through(self):
        self.server.post(CHAT, {"messages": USER, "max_tokens": 1, "user": "me", "metadata": {"a": "b"}, "store": False,
                                "service_tier": "auto", "response_format": {"type": "text"}, "tools": [],
                                "tool_choice": "none", "parallel_tool_calls": True, "modalities": ["text"]})

    def test_tier_0_keeps_an_unknown_field_and_says_so(self):
        answer = self.server.post(CHAT, {"messages": USER, "max_tokens": 1, "colour": "blue", "reproducibility_tier": 0})
        self.assertEqual(answer["reproducibility"]["ignored_fields"], ["colour"])

    def test_all_pins_that_differ_are_listed_and_true_ones_are_taken(self):
        body = {"messages": USER, "max_tokens": 2, "seed": 4, "temperature": 0.5}
        says = self.server.post(CHAT, body)["reproducibility"]
        pins = {"fingerprint": says["inference_fingerprint"], "semantic_sha256": says["semantic_sha256"],
                "numeric_sha256": says["numeric_sha256"], "deployment_sha256": says["deployment_sha256"]}
        again = self.server.post(CHAT, {**body, "reproducibility": pins})
        self.assertEqual(again["reproducibility"], says)
        other = self.server.ask("POST", CHAT, {**body, "seed": 5, "reproducibility": pins})
        self.assertEqual(other.status, 409)
        self.assertEqual(other.error()["fields"], ["reproducibility.fingerprint", "reproducibility.semantic_sha256"])

    def test_it_still_answers_after_all_that(self):
        self.assertTrue(self.server.chat("hi", max_tokens=2)["choices"])


if __name__ == "__main__":
    program.main()
