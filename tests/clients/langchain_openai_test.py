#!/usr/bin/env python3
"""langchain-openai against the server: invoke, stream, batch, seeds and log-probabilities."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server"))

import program
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from program import Server

MESSAGES = [SystemMessage("You answer in one sentence."), HumanMessage("Why is the sky blue?")]


class LangChainOpenAi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--served-model-name", "smol").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def model(self, **fields):
        return ChatOpenAI(model="smol", base_url=f"http://127.0.0.1:{self.server.port}/v1", api_key="none", max_retries=0,
                          max_tokens=24, **fields)

    def test_the_same_seed_gives_the_same_answer(self):
        model = self.model(temperature=0.8, seed=7, logprobs=True, extra_body={"return_token_ids": True})
        first, again = model.invoke(MESSAGES), model.invoke(MESSAGES)
        self.assertEqual(again.content, first.content)
        self.assertEqual(again.response_metadata["logprobs"], first.response_metadata["logprobs"])
        self.assertEqual(len(first.response_metadata["logprobs"]["content"]), 24)
        self.assertEqual(again.response_metadata["system_fingerprint"], first.response_metadata["system_fingerprint"])
        self.assertEqual(first.usage_metadata["output_tokens"], 24)
        self.assertNotEqual(self.model(temperature=0.8, seed=8).invoke(MESSAGES).content, first.content)

    def test_a_stream_is_the_whole_answer(self):
        model = self.model(temperature=0.8, seed=7, stream_usage=True)
        whole = model.invoke(MESSAGES)
        gathered = None
        pieces = 0
        for piece in model.stream(MESSAGES):
            gathered = piece if gathered is None else gathered + piece
            pieces += 1
        self.assertGreater(pieces, 10)
        self.assertEqual(gathered.content, whole.content)
        self.assertEqual(gathered.usage_metadata["output_tokens"], whole.usage_metadata["output_tokens"])

    def test_a_batch_equals_its_parts(self):
        model = self.model(temperature=0)
        questions = [[HumanMessage(f"Name {count} colours.")] for count in range(2, 10)]
        together = [answer.content for answer in model.batch(questions, config={"max_concurrency": 8})]
        self.assertEqual(together, [model.invoke(question).content for question in questions])


if __name__ == "__main__":
    program.main()
