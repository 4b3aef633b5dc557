#!/usr/bin/env python3
"""litellm as a client of the server: completion, stream, asynchronous ones, seeds, errors."""

import asyncio
import os
import sys
import unittest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch a price list
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server"))

import litellm
import program
from program import Server

MESSAGES = [{"role": "user", "content": "Why is the sky blue?"}]
litellm.suppress_debug_info = True


class LiteLlm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--served-model-name", "smol").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def fields(self, **more):
        return {"model": "openai/smol", "api_base": f"http://127.0.0.1:{self.server.port}/v1", "api_key": "none", "messages": MESSAGES,
                "max_tokens": 24, "num_retries": 0, **more}

    def test_the_same_seed_gives_the_same_answer(self):
        fields = self.fields(temperature=0.8, seed=7, logprobs=True, top_logprobs=2)
        first, again = litellm.completion(**fields), litellm.completion(**fields)
        self.assertEqual(first.usage.completion_tokens, 24)
        self.assertEqual(again.choices[0].message.content, first.choices[0].message.content)
        self.assertEqual(again.choices[0].logprobs, first.choices[0].logprobs)
        self.assertEqual(again.system_fingerprint, first.system_fingerprint)
        other = litellm.completion(**self.fields(temperature=0.8, seed=8))
        self.assertNotEqual(other.choices[0].message.content, first.choices[0].message.content)

    def test_a_stream_is_the_whole_answer(self):
        fields = self.fields(temperature=0.8, seed=7)
        whole = litellm.completion(**fields)
        chunks = list(litellm.completion(**fields, stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices),
                         whole.choices[0].message.content)

    def test_many_at_once_equal_one_alone(self):
        fields = self.fields()
        alone = litellm.completion(**fields).choices[0].message.content

        async def ask():
            return await asyncio.gather(*(litellm.acompletion(**fields) for _ in range(8)))

        self.assertEqual([answer.choices[0].message.content for answer in asyncio.run(ask())], [alone] * 8)

    def test_errors_become_its_exceptions(self):
        with self.assertRaises(litellm.BadRequestError) as caught:
            litellm.completion(**self.fields(temperature=1))
        self.assertIn("seed", str(caught.exception))


if __name__ == "__main__":
    program.main()
