#!/usr/bin/env python3
"""The official openai package for Python against the server: answers, streams, errors, many at once."""

import array
import asyncio
import hashlib
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server"))

import openai
import program
from program import Server

TINY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "models", "llama-q8_0.gguf")
MESSAGES = [{"role": "user", "content": "Why is the sky blue?"}]


class OpenAiPython(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--served-model-name", "smol").__enter__()
        cls.url = f"http://127.0.0.1:{cls.server.port}/v1"
        cls.client = openai.OpenAI(base_url=cls.url, api_key="none", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.__exit__()

    def test_a_chat_answer_and_its_stream_are_the_same(self):
        fields = {"model": "smol", "messages": MESSAGES, "max_tokens": 32, "temperature": 0.8, "seed": 7, "logprobs": True,
                  "top_logprobs": 2}
        answer = self.client.chat.completions.create(**fields)
        self.assertEqual(answer.usage.completion_tokens, 32)
        text, tokens, last = "", [], None
        for chunk in self.client.chat.completions.create(**fields, stream=True, stream_options={"include_usage": True}):
            last = chunk
            self.assertEqual(chunk.system_fingerprint, answer.system_fingerprint)
            for choice in chunk.choices:
                text += choice.delta.content or ""
                tokens += choice.logprobs.content if choice.logprobs else []
        self.assertEqual(text, answer.choices[0].message.content)
        self.assertEqual(tokens, answer.choices[0].logprobs.content)
        self.assertEqual(last.usage, answer.usage)
        self.assertEqual(last.reproducibility, answer.reproducibility)
        self.assertEqual(answer.reproducibility["seed"], "7")

    def test_the_stream_helper_puts_the_answer_together(self):
        # The helper takes an answer cut by its length for a failure, so this one ends by a stop.
        fields = {"model": "smol", "messages": MESSAGES, "max_tokens": 300, "stop": "."}
        with self.client.chat.completions.stream(**fields) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
        plain = self.client.chat.completions.create(**fields)
        self.assertEqual(plain.choices[0].finish_reason, "stop")
        self.assertEqual(final.choices[0].message.content, plain.choices[0].message.content)
        self.assertEqual(final.choices[0].finish_reason, plain.choices[0].finish_reason)

    def test_completions_score_a_prompt(self):
        answer = self.client.completions.create(model="smol", prompt=["One two three", "Once upon"], echo=True, logprobs=1,
                                                max_tokens=1)
        self.assertEqual([c.index for c in answer.choices], [0, 1])
        self.assertIsNone(answer.choices[0].logprobs.token_logprobs[0])
        self.assertTrue(all(value < 0 for value in answer.choices[0].logprobs.token_logprobs[1:]))

    def test_models_are_listed(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["smol"])
        self.assertEqual(self.client.models.retrieve("smol").owned_by, "samebit")

    def test_headers_and_extra_fields_go_through(self):
        raw = self.client.chat.completions.with_raw_response.create(
            model="smol", messages=MESSAGES, max_tokens=2, extra_headers={"X-Reproducibility-Tier": "1", "X-Request-Id": "r1"},
            extra_body={"min_p": 0.1, "return_token_ids": True})
        self.assertEqual(raw.headers["x-reproducibility-tier"], "1")
        self.assertEqual(raw.headers["x-request-id"], "r1")
        answer = raw.parse()
        self.assertEqual(len(answer.choices[0].token_ids), 2)
        pinned = {"reproducibility": {"fingerprint": answer.reproducibility["inference_fingerprint"]}, "min_p": 0.1}
        again = self.client.chat.completions.create(model="smol", messages=MESSAGES, max_tokens=2, extra_body=pinned)
        self.assertEqual(again.choices[0].message.content, answer.choices[0].message.content)

    def test_errors_become_its_exceptions(self):
        def create(**fields):
            return self.client.chat.completions.create(**{"model": "smol", "messages": MESSAGES, "max_tokens": 1, **fields})
        for fields, kind, code, param in [
                ({"temperature": 1}, openai.BadRequestError, "seed_required", "seed"),
                ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}, openai.BadRequestError,
                 "unsupported_parameter", "tools"),
                ({"model": "gpt-4"}, openai.NotFoundError, "model_not_found", "model"),
                ({"extra_body": {"reproducibility": {"model_sha256": "0" * 64}}}, openai.ConflictError, "fingerprint_mismatch",
                 "reproducibility.model_sha256")]:
            with self.subTest(code), self.assertRaises(kind) as caught:
                create(**fields)
            self.assertEqual((caught.exception.code, caught.exception.param), (code, param))

    def test_embeddings_as_numbers_and_as_base64_are_the_same(self):
        texts = ["A cat sleeps.", "The kitten is napping.", "Stock markets fell."]
        # The package asks for base64 by itself where nothing is said, and turns it into numbers.
        coded = self.client.embeddings.create(model="smol", input=texts)
        plain = self.client.embeddings.create(model="smol", input=texts, encoding_format="float")
        self.assertEqual(len(coded.data), 3)
        for a, b in zip(coded.data, plain.data, strict=True):
            self.assertEqual(array.array("f", a.embedding), array.array("f", b.embedding))
            self.assertEqual(len(a.embedding), 576)
        self.assertEqual(coded.usage.total_tokens, plain.usage.prompt_tokens)
        self.assertEqual(plain.reproducibility["pooling"]["value"], "mean")
        with self.assertRaises(openai.BadRequestError) as caught:
            self.client.embeddings.create(model="smol", input="a", dimensions=64)
        self.assertEqual((caught.exception.code, caught.exception.param), ("unsupported_parameter", "dimensions"))
    def test_seeds_and_samples_repeat(self):
        fields = {"model": "smol", "messages": MESSAGES, "max_tokens": 24, "temperature": 0.8, "seed": 11, "n": 4, "logprobs": True,
                  "extra_body": {"return_token_ids": True}}
        first = self.client.chat.completions.create(**fields)
        self.assertEqual([choice.index for choice in first.choices], [0, 1, 2, 3])
        self.assertGreater(len({tuple(choice.token_ids) for choice in first.choices}), 1)
        self.assertEqual(first.usage.completion_tokens, sum(len(choice.token_ids) for choice in first.choices))
        again = self.client.chat.completions.create(**fields)
        self.assertEqual(again.choices, first.choices)
        self.assertEqual(again.reproducibility, first.reproducibility)
        alone = self.client.chat.completions.create(**{**fields, "n": 1})
        self.assertEqual(alone.choices[0], first.choices[0])
        other = self.client.chat.completions.create(**{**fields, "seed": 12})
        self.assertNotEqual([c.token_ids for c in other.choices], [c.token_ids for c in first.choices])
        streamed = {index: [] for index in range(4)}
        for chunk in self.client.chat.completions.create(**fields, stream=True, stream_options={"include_usage": True}):
            for choice in chunk.choices:
                streamed[choice.index] += choice.token_ids or []
            usage = chunk.usage
        self.assertEqual(streamed, {choice.index: choice.token_ids for choice in first.choices})
        self.assertEqual(usage, first.usage)

    def test_a_missing_and_a_wrong_key_are_authentication_errors(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as keys:
            keys.write("me " + hashlib.sha256(b"right").hexdigest() + "\n")
            keys.flush()
            with Server("--api-keys", keys.name, model=TINY) as server:
                url = f"http://127.0.0.1:{server.port}/v1"
                with openai.OpenAI(base_url=url, api_key="wrong", max_retries=0) as wrong:
                    with self.assertRaises(openai.AuthenticationError) as caught:
                        wrong.models.list()
                self.assertEqual(caught.exception.status_code, 401)
                with openai.OpenAI(base_url=url, api_key="right", max_retries=0) as right:
                    self.assertEqual(len(right.models.list().data), 1)

    def test_a_full_server_is_a_rate_limit_error(self):
        with Server("--max-sequences", "1", "--queue", "0", "--served-model-name", "smol") as server:
            url = f"http://127.0.0.1:{server.port}/v1"
            with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
                stream = client.chat.completions.create(model="smol", messages=MESSAGES, max_tokens=4000, stream=True,
                                                        extra_body={"ignore_eos": True})
                next(iter(stream))
                with self.assertRaises(openai.RateLimitError) as caught:
                    client.chat.completions.create(model="smol", messages=MESSAGES, max_tokens=1)
                self.assertEqual(caught.exception.status_code, 429)
                self.assertGreaterEqual(int(caught.exception.response.headers["retry-after"]), 1)
                stream.close()

    def test_many_at_once_equal_one_alone(self):
        fields = {"model": "smol", "messages": MESSAGES, "max_tokens": 32}
        alone = self.client.chat.completions.create(**fields).choices[0].message.content

        async def ask():
            async with openai.AsyncOpenAI(base_url=self.url, api_key="none", max_retries=0) as client:
                answers = await asyncio.gather(*(client.chat.completions.create(**fields) for _ in range(32)))
                return [answer.choices[0].message.content for answer in answers]

        self.assertEqual(asyncio.run(ask()), [alone] * 32)

    def test_leaving_a_stream_frees_its_slot(self):
        stream = self.client.chat.completions.create(model="smol", messages=MESSAGES, max_tokens=4000, stream=True,
                                                     extra_body={"ignore_eos": True})
        next(iter(stream))
        stream.close()
        self.server.wait_for(lambda: self.server.metric("samebit:num_requests_running") == 0, 5, "an empty engine")


if __name__ == "__main__":
    program.main()
