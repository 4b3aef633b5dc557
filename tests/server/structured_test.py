#!/usr/bin/env python3
"""Answers of a given form: always parse, satisfy their schema, and have the same bits (scenario 30)."""

import hashlib
import json
import re
import time
import unittest

import program
from clients_test import head
from program import Server, at_once, gathered, loads, whole

CHAT = "/v1/chat/completions"
ALL = {"logprobs": True, "top_logprobs": 2, "return_token_ids": True}
TOPICS = ["a cat", "the moon", "Paris", "an old clock", "rain", "a chess game", "bread", "a robot", "the number 7", "music",
          "a lost key", "winter", "a lighthouse", "ants", "a red bicycle", "the sea", "a dragon", "tea", "a bridge", "snow"]
PROMPTS = [f"Describe {topic}." for topic in TOPICS] + [f"Give me facts about {topic} as JSON." for topic in TOPICS]
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 24},
        "kind": {"enum": ["animal", "place", "thing", None]},
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{1,8}$"}, "minItems": 1, "maxItems": 3},
        "part": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}},
                                              "required": ["name"], "additionalProperties": False}]},
    },
    "required": ["title", "kind", "size", "tags", "part"],
    "additionalProperties": False,
}


def form(schema, **fields):
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}, **fields}


def satisfies(value):
    """SCHEMA, in other words."""
    return (isinstance(value, dict) and list(value) == ["title", "kind", "size", "tags", "part"]
            and isinstance(value["title"], str) and 1 <= len(value["title"]) <= 24
            and value["kind"] in ("animal", "place", "thing", None)
            and type(value["size"]) is int and 1 <= value["size"] <= 10
            and 1 <= len(value["tags"]) <= 3 and all(re.fullmatch("[a-z]{1,8}", tag) for tag in value["tags"])
            and (value["part"] is None or (list(value["part"]) == ["name"] and len(value["part"]["name"]) <= 12)))


class Structured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--max-sequences", "16").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_every_answer_parses_and_satisfies_its_schema(self):
        for sampling in ({"temperature": 0}, {"temperature": 1.0, "seed": 5}):
            jobs = [lambda p=p: self.server.chat(p, max_tokens=200, response_format=form(SCHEMA), **sampling)
                    for p in PROMPTS]
            texts = set()
            for first in range(0, len(jobs), 8):
                for answer in at_once(jobs[first:first + 8]):
                    choice = answer["choices"][0]
                    self.assertEqual(choice["finish_reason"], "stop")
                    self.assertTrue(satisfies(loads(choice["message"]["content"])), choice["message"]["content"])
                    texts.add(choice["message"]["content"])
            self.assertGreater(len(texts), 20)

    def test_scenario_30_eight_at_once_and_mixed_neighbours_have_the_bits_of_one_alone(self):
        for sampling in ({"temperature": 0}, {"temperature": 1.1, "seed": 9}):
            ask = lambda: self.server.chat(PROMPTS[3], max_tokens=200, response_format=form(SCHEMA), **sampling, **ALL)
            alone = ask()
            for answer in at_once([ask] * 8):
                self.assertEqual(whole(answer), whole(alone))
            others = [lambda i=i: self.server.chat(PROMPTS[i], max_tokens=60, temperature=1.5, seed=i) for i in range(5)]
            self.assertEqual(whole(at_once([ask, *others, ask])[0]), whole(alone))
            with Server("--threads", "1", "--max-sequences", "3", "--no-prefix-cache") as other:
                again = other.chat(PROMPTS[3], max_tokens=200, response_format=form(SCHEMA), **sampling, **ALL)
            self.assertEqual(whole(again), whole(alone))
            self.assertEqual(again["reproducibility"]["semantic_sha256"], alone["reproducibility"]["semantic_sha256"])

    def test_a_stream_says_what_the_whole_answer_says(self):
        body = {"messages": [{"role": "user", "content": PROMPTS[0]}], "max_tokens": 200, "temperature": 0.9, "seed": 2, "n": 3,
                "response_format": form(SCHEMA), **ALL}
        self.assertEqual(gathered(self.server.stream(CHAT, body)), whole(self.server.post(CHAT, body)))

    def test_json_object_and_penalties_and_bias(self):
        for fields in ({"temperature": 0}, {"temperature": 1.2, "seed": 4, "frequency_penalty": 1.0, "top_k": 40},
                       {"temperature": 0, "repetition_penalty": 1.3, "logit_bias": {"33": 5, "0": 100}, "min_tokens": 5}):
            answer = self.server.chat("Write JSON about the sea.", max_tokens=400, response_format={"type": "json_object"},
                                      **fields)["choices"][0]
            if answer["finish_reason"] == "stop":
                self.assertIsInstance(loads(answer["message"]["content"]), dict)
            else:
                self.assertEqual(answer["finish_reason"], "length")
            self.assertTrue(answer["message"]["content"].startswith("{"))

    def test_an_answer_that_is_cut_says_length(self):
        answer = self.server.chat("x", max_tokens=5, response_format=form(SCHEMA))
        self.assertEqual(answer["choices"][0]["finish_reason"], "length")
        self.assertEqual(answer["usage"]["completion_tokens"], 5)

    def test_completions_have_forms_too(self):
        answer = self.server.complete("Question: 3+4? Answer as a number: ", max_tokens=20, n=2, temperature=1.0, seed=1,
                                      response_format=form({"type": "integer", "minimum": 0, "maximum": 99}))
        for choice in answer["choices"]:
            self.assertIn(int(choice["text"]), range(100))

    def test_the_form_is_part_of_the_fingerprint(self):
        def semantic(response_format):
            return self.server.chat("x", max_tokens=3, response_format=response_format)["reproducibility"]["semantic_sha256"]
        text, thing = semantic({"type": "text"}), semantic({"type": "json_object"})
        one, other = semantic(form({"type": "integer"})), semantic(form({"type": "integer", "minimum": 0}))
        self.assertEqual(len({text, thing, one, other}), 4)
        self.assertEqual(semantic(None), text)
        ordered = [semantic(form({"type": "object", "properties": {a: {"type": "integer"}, b: {"type": "integer"}}}))
                   for a, b in ("xy", "yx")]
        self.assertNotEqual(*ordered, "the order of properties decides about the answer")
        self.assertEqual(semantic({"json_schema": {"schema": {"type": "integer"}, "strict": True, "name": "answer"},
                                   "type": "json_schema"}), one)

    def test_log_probabilities_are_those_of_the_raw_logits(self):
        formed = self.server.chat(PROMPTS[0], max_tokens=1, response_format=form(SCHEMA), **ALL)["choices"][0]
        free = self.server.chat(PROMPTS[0], max_tokens=1, **ALL)["choices"][0]
        self.assertNotEqual(formed["token_ids"], free["token_ids"])
        top = lambda choice: choice["logprobs"]["content"][0]["top_logprobs"]
        self.assertEqual(top(formed), top(free))

    def test_what_a_grammar_cannot_say_is_validated_and_made_again(self):
        schema = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 6}, "minItems": 4, "maxItems": 4,
                  "uniqueItems": True}
        ask = lambda seed, **fields: self.server.ask("POST", CHAT, {
            "messages": [{"role": "user", "content": "Four numbers."}], "max_tokens": 60, "temperature": 1.5, "seed": seed,
            "response_format": form(schema, **fields)})
        retried = refused = 0
        for seed in range(24):
            answer = ask(seed, samebit_retries=3)
            if answer.status == 422:
                self.assertEqual(answer.error()["code"], "schema_not_satisfied")
                refused += 1
                continue
            body = answer.json()
            attempts = body["reproducibility"]["attempts"]
            numbers = loads(body["choices"][0]["message"]["content"])
            self.assertEqual(len(set(numbers)), 4, numbers)
            self.assertEqual([a["valid"] for a in attempts], [False] * (len(attempts) - 1) + [True])
            self.assertEqual(body["usage"]["completion_tokens"], sum(a["completion_tokens"] for a in attempts))
            for k, attempt in enumerate(attempts):
                rule = seed if k == 0 else int.from_bytes(hashlib.sha256(
                    b"samebit-attempt/1\0" + seed.to_bytes(8, "little") + k.to_bytes(4, "little")).digest()[:8], "little")
                self.assertEqual(attempt["seed"], str(rule))
            retried += len(attempts) > 1
            if len(attempts) > 1:
                again = ask(seed, samebit_retries=3).json()
                self.assertEqual(again["choices"], body["choices"])
                self.assertEqual(again["reproducibility"], body["reproducibility"])
                # The attempt that was good, asked for by its own seed.
                alone = ask(int(attempts[-1]["seed"]), samebit_retries=0).json()
                self.assertEqual(alone["choices"], body["choices"])
        self.assertGreater(retried, 0)
        statuses = {ask(seed, samebit_retries=0).status for seed in range(12)}
        self.assertIn(422, statuses)

    def test_a_client_that_leaves_ends_all_its_attempts(self):
        never = {"type": "array", "items": {"const": 1}, "minItems": 2, "maxItems": 2, "uniqueItems": True}
        body = json.dumps({"messages": [{"role": "user", "content": "Two numbers."}], "max_tokens": 40, "temperature": 1, "seed": 1,
                           "response_format": form(never, samebit_retries=8)}).encode()
        made = lambda: self.server.metric("samebit:engine_steps_total")

        def leave_at(steps):
            """Leaves after so many forward passes; how many were made in the end."""
            before = made()
            with self.server.socket() as raw:
                raw.sendall(head(CHAT, body) + body)
                self.server.wait_for(lambda: made() - before >= steps, 60, f"step {steps}")
            last = made()
            while True:  # between two attempts nothing runs, for a moment
                time.sleep(0.3)
                now = made()
                if now == last:
                    return now - before
                last = now

        before = made()
        self.assertEqual(self.server.ask("POST", CHAT, json.loads(body)).error()["code"], "schema_not_satisfied")
        steps = int(made() - before)
        self.assertGreaterEqual(steps, 9)
        for leaving in range(1, steps // 2, max(1, steps // 24)):
            self.assertLess(leave_at(leaving), steps, f"left at step {leaving}")

    def test_refusals_name_the_place(self):
        path = "response_format.json_schema.schema"
        unique = {"type": "array", "uniqueItems": True}
        cases = [
            (form({"properties": {"a": unique}}), {}, "unsupported_schema", path + ".properties.a.uniqueItems"),
            (form({"properties": {"a": {"frob": 1}}}), {}, "unsupported_schema", path + ".properties.a.frob"),
            (form({"type": "string", "pattern": "(?=x)"}), {}, "unsupported_schema", path + ".pattern"),
            (form({"$ref": "http://127.0.0.1:9/x.json"}), {}, "unsupported_schema", path + ".$ref"),
            (form({"type": "text"}), {}, "invalid_schema", path + ".type"),
            (form({"enum": ["x" * 600_000]}), {}, "too_large", path),
            (form(unique, samebit_retries=9), {}, "invalid_value", "response_format.samebit_retries"),
            (form(unique, samebit_retries=2), {}, "invalid_value", "response_format.samebit_retries"),
            (form(unique, samebit_retries=0), {"stream": True}, "unsupported_parameter", "response_format.samebit_retries"),
            (form(unique, samebit_retries=0), {"n": 2}, "unsupported_parameter", "response_format.samebit_retries"),
            (form({}), {"use_beam_search": True}, "unsupported_parameter", "response_format"),
            ({"type": "json_object", "schema": {}}, {}, "unsupported_parameter", "response_format.schema"),
            ({"type": "json_schema", "json_schema": {"name": "a b", "schema": {}}}, {}, "invalid_value",
             "response_format.json_schema.name"),
            ({"type": "json_schema", "json_schema": {"name": "a"}}, {}, "missing_required_parameter", path),
        ]
        for response_format, fields, code, param in cases:
            with self.subTest(param=param, code=code):
                answer = self.server.ask("POST", CHAT, {"messages": [{"role": "user", "content": "x"}], "max_tokens": 2,
                                                        "response_format": response_format, **fields})
                error = answer.error()
                self.assertEqual((answer.status, error["code"], error["param"]), (400, code, param), error)

    def test_hostile_schemas_leave_the_server_well(self):
        deep = {"type": "integer"}
        for _ in range(20):
            deep = {"type": "array", "items": deep, "minItems": 1, "maxItems": 3}
        doubling = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
        doubling["d40"] = {"type": "object"}
        schemas = [deep, {"$ref": "#/$defs/d0", "$defs": doubling}, {"$ref": "#"}, {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
                   {"type": "string", "pattern": "^(a|aa)+[ab]{500}$"}, {"enum": [f"v{i}" for i in range(40_000)]},
                   {"type": "string", "maxLength": 100_000}, {"type": "string", "pattern": "^[ab]*a[ab]{60}$"}]
        for schema in schemas:
            answer = self.server.ask("POST", CHAT, {"messages": [{"role": "user", "content": "x"}], "max_tokens": 40,
                                                    "response_format": form(schema)})
            self.assertIn(answer.status, (200, 400), answer.body[:300])
        self.assertTrue(satisfies(loads(self.server.chat("x", max_tokens=200, response_format=form(SCHEMA))["choices"][0]
                                        ["message"]["content"])))


if __name__ == "__main__":
    program.main()
