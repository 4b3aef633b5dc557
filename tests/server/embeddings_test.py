#!/usr/bin/env python3
"""/v1/embeddings by a sentence encoder (the real MiniLM) and beside generation by a decoder."""

import base64
import os
import struct
import time
import unittest

import program
from program import Server, at_once, loads

TEXTS = ["A cat sleeps on the warm windowsill.", "The kitten is napping by the window in the sun.",
         "Stock markets fell sharply after the central bank raised interest rates.", "x", "word " * 200]


def encoder():
    return os.path.join(os.path.dirname(program.arguments.model), "all-minilm-l6-v2")


def vectors(answer):
    return [part["embedding"] for part in answer["data"]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def from_base64(text):
    data = base64.b64decode(text, validate=True)
    return [value for (value,) in struct.iter_unpack("<f", data)]


def as_float32(values):
    return [struct.unpack("<f", struct.pack("<f", value))[0] for value in values]


class Encoder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--served-model-name", "minilm", "--threads", 2, model=encoder()).__enter__()
        cls.alone = [cls.server.post("/v1/embeddings", {"input": text})["data"][0]["embedding"] for text in TEXTS]

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def refusal(self, body, path="/v1/embeddings"):
        answer = self.server.ask("POST", path, body)
        return answer.status, answer.error()["param"], answer.error()["code"]

    def test_the_answer_has_openais_shape_and_says_how_it_was_made(self):
        raw = self.server.ask("POST", "/v1/embeddings", {"model": "minilm", "input": TEXTS, "user": "u"})
        answer = raw.json()
        self.assertEqual(answer["object"], "list")
        self.assertEqual(answer["model"], "minilm")
        self.assertEqual([(p["object"], p["index"]) for p in answer["data"]], [("embedding", i) for i in range(5)])
        self.assertTrue(all(len(vector) == 384 for vector in vectors(answer)))
        ids = [self.server.post("/tokenize", {"prompt": text})["tokens"] for text in TEXTS]
        self.assertEqual(answer["usage"], {"prompt_tokens": sum(map(len, ids)), "total_tokens": sum(map(len, ids))})
        self.assertEqual(answer["usage"]["prompt_tokens"], answer["usage"]["total_tokens"])
        says = answer["reproducibility"]
        self.assertEqual(says["pooling"], {"value": "mean", "source": "checkpoint"})
        self.assertEqual(says["normalized"], {"value": True, "source": "checkpoint"})
        self.assertEqual((says["tier_requested"], says["tier_effective"]), (2, 2))
        self.assertEqual(raw.headers["x-inference-fingerprint"], says["inference_fingerprint"])
        self.assertNotIn("seed", says)
        self.assertEqual(self.server.ask("GET", "/v1/fingerprint").json()["semantic_sha256"], says["semantic_sha256"])
        self.assertIn('"embedding":{"normalized":true,"pooling":"mean"}',
                      self.server.ask("GET", "/v1/fingerprint").body.decode().replace(" ", ""))

    def test_alone_in_a_batch_in_any_order_and_at_once_are_the_same_bits(self):
        self.assertEqual(vectors(self.server.post("/v1/embeddings", {"input": TEXTS})), self.alone)
        self.assertEqual(vectors(self.server.post("/v1/embeddings", {"input": TEXTS[::-1] * 20})), self.alone[::-1] * 20)
        jobs = [lambda i=i: vectors(self.server.post("/v1/embeddings", {"input": TEXTS[i % 5:] + TEXTS[:i % 5]}))
                for i in range(16)]
        for i, got in enumerate(at_once(jobs)):
            self.assertEqual(got, self.alone[i % 5:] + self.alone[:i % 5])

    def test_another_thread_count_and_instruction_set_give_the_same_bits(self):
        with Server("--threads", 1, "--isa", "scalar", model=encoder()) as other:
            answer = other.post("/v1/embeddings", {"input": TEXTS})
        self.assertEqual(vectors(answer), self.alone)
        mine = self.server.post("/v1/embeddings", {"input": "x"})["reproducibility"]
        for part in ("semantic_sha256", "numeric_sha256"):
            self.assertEqual(answer["reproducibility"][part], mine[part])
        self.assertNotEqual(answer["reproducibility"]["deployment_sha256"], mine["deployment_sha256"])

    def test_token_ids_are_taken_as_they_are(self):
        ids = [self.server.post("/tokenize", {"prompt": text})["tokens"] for text in TEXTS]
        self.assertEqual((ids[0][0], ids[0][-1]), (101, 102))
        self.assertEqual(vectors(self.server.post("/v1/embeddings", {"input": ids})), self.alone)
        self.assertEqual(vectors(self.server.post("/v1/embeddings", {"input": ids[0]})), self.alone[:1])
        self.assertNotEqual(vectors(self.server.post("/v1/embeddings", {"input": ids[0][1:-1]})), self.alone[:1])

    def test_base64_holds_the_same_numbers(self):
        answer = self.server.post("/v1/embeddings", {"input": TEXTS, "encoding_format": "base64"})
        self.assertEqual([from_base64(v) for v in vectors(answer)], [as_float32(v) for v in self.alone])

    def test_meaning_shows_and_length_is_one(self):
        cat, kitten, markets = self.alone[:3]
        self.assertGreater(dot(cat, kitten), dot(cat, markets) + 0.3)
        for vector in self.alone:
            self.assertAlmostEqual(dot(vector, vector), 1, places=6)
        plain = self.server.post("/v1/embeddings", {"input": TEXTS[0], "normalize": False})
        self.assertNotAlmostEqual(dot(vectors(plain)[0], vectors(plain)[0]), 1, places=2)
        self.assertEqual(plain["reproducibility"]["normalized"], {"value": False, "source": "request"})

    def test_every_pooling_is_another_vector_with_its_own_fingerprint(self):
        answers = [self.server.post("/v1/embeddings", {"input": TEXTS[0], "pooling": p}) for p in ("mean", "cls", "last")]
        self.assertEqual(vectors(answers[0]), self.alone[:1])
        self.assertEqual(len({str(vectors(a)) for a in answers}), 3)
        self.assertEqual(len({a["reproducibility"]["semantic_sha256"] for a in answers}), 3)
        self.assertEqual(answers[1]["reproducibility"]["pooling"], {"value": "cls", "source": "request"})

    def test_pins_are_checked(self):
        says = self.server.post("/v1/embeddings", {"input": "x"})["reproducibility"]
        pinned = {"input": "x", "reproducibility": {"fingerprint": says["inference_fingerprint"]}}
        self.server.post("/v1/embeddings", pinned)
        self.assertEqual(self.refusal({**pinned, "normalize": False}),
                         (409, "reproducibility.fingerprint", "fingerprint_mismatch"))

    def test_wrong_input_is_refused_by_name(self):
        long = "word " * 300
        for body, status, param, code in [
                ({}, 400, "input", "missing_required_parameter"), ({"input": []}, 400, "input", "invalid_value"),
                ({"input": [[]]}, 400, "input", "invalid_value"), ({"input": [30522]}, 400, "input[0]", "invalid_value"),
                ({"input": ["a", 5]}, 400, "input[1]", "invalid_type"),
                ({"input": long}, 400, "input", "context_length_exceeded"),
                ({"input": ["a", long]}, 400, "input[1]", "context_length_exceeded"),
                ({"input": ["a"] * 2049}, 400, "input", "invalid_value"),
                ({"input": "a", "dimensions": 256}, 400, "dimensions", "unsupported_parameter"),
                ({"input": "a", "encoding_format": "int8"}, 400, "encoding_format", "invalid_value"),
                ({"input": "a", "pooling": "max"}, 400, "pooling", "invalid_value"),
                ({"input": "a", "truncate_prompt_tokens": 5}, 400, "truncate_prompt_tokens", "unsupported_parameter"),
                ({"input": "a", "mystery": 1}, 400, "mystery", "unsupported_parameter"),
                ({"input": "a", "model": "other"}, 404, "model", "model_not_found")]:
            with self.subTest(str(body)[:60]):
                self.assertEqual(self.refusal(body), (status, param, code))
        self.assertIn("at most 256 tokens", self.server.ask("POST", "/v1/embeddings", {"input": long}).error()["message"])
        self.assertEqual(self.server.ask("GET", "/v1/embeddings").status, 405)
        self.server.post("/v1/embeddings", {"input": "a", "dimensions": 384})
        at_tier_0 = self.server.post("/v1/embeddings", {"input": "a", "mystery": 1, "reproducibility_tier": 0})
        self.assertEqual(at_tier_0["reproducibility"]["ignored_fields"], ["mystery"])

    def test_it_generates_nothing_and_says_so(self):
        for path, body in (("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]}),
                           ("/v1/completions", {"prompt": "Hi"})):
            self.assertEqual(self.refusal(body, path), (404, "model", "model_not_generative"))
        self.assertEqual(self.server.ask("GET", "/v1/models").json()["data"][0]["max_model_len"], 256)
        self.assertEqual(self.server.ask("GET", "/ready").status, 200)

    def test_control_tokens_in_a_text_stay_text(self):
        ids = self.server.post("/tokenize", {"prompt": "a [SEP] b"})["tokens"]
        self.assertEqual(ids.count(102), 1)
        self.assertEqual(ids[-1], 102)

    def test_a_stop_ends_what_is_in_flight(self):
        with Server(model=encoder()) as server:
            connection = server.connection()
            connection.request("POST", "/v1/embeddings", '{"input":["' + "word " * 200 + '"]}',
                               {"Content-Type": "application/json"})
            time.sleep(0.05)
            server.terminate()
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            self.assertEqual(len(loads(answer.read())["data"]), 1)
            connection.close()
            self.assertEqual(server.wait(), 0)


class Decoder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--served-model-name", "smol").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_mean_and_last_token_are_said_and_the_first_is_refused(self):
        mean = self.server.post("/v1/embeddings", {"input": TEXTS[0]})
        last = self.server.post("/v1/embeddings", {"input": TEXTS[0], "pooling": "last"})
        self.assertEqual(mean["reproducibility"]["pooling"], {"value": "mean", "source": "server"})
        self.assertEqual(last["reproducibility"]["pooling"], {"value": "last", "source": "request"})
        self.assertEqual(len(vectors(mean)[0]), 576)
        self.assertNotEqual(vectors(mean), vectors(last))
        answer = self.server.ask("POST", "/v1/embeddings", {"input": "a", "pooling": "cls"})
        self.assertEqual((answer.status, answer.error()["param"], answer.error()["code"]),
                         (400, "pooling", "unsupported_parameter"))

    def test_vectors_and_tokens_are_the_same_beside_each_other(self):
        texts = TEXTS[:4]
        alone = vectors(self.server.post("/v1/embeddings", {"input": texts}))
        tokens = self.server.complete("Once upon a time", max_tokens=48, return_token_ids=True)["choices"][0]["token_ids"]
        jobs = [lambda: self.server.complete("Once upon a time", max_tokens=48, return_token_ids=True)["choices"][0]["token_ids"],
                lambda: vectors(self.server.post("/v1/embeddings", {"input": texts * 4})),
                lambda: vectors(self.server.post("/v1/embeddings", {"input": texts[::-1]}))]
        got = at_once(jobs)
        self.assertEqual(got, [tokens, alone * 4, alone[::-1]])

    def test_a_stream_goes_on_while_many_texts_are_read(self):
        chunks = []

        def stream():
            for chunk in self.server.stream("/v1/completions", {"prompt": "Once", "max_tokens": 24, "ignore_eos": True}):
                chunks.append(chunk)
            return self.server.metric("samebit:generation_tokens_total")

        before = self.server.metric("samebit:generation_tokens_total")
        finished = at_once([stream, lambda: self.server.post("/v1/embeddings", {"input": TEXTS[:3] * 40}) and time.monotonic()])
        self.assertEqual(finished[0] - before, 24)


if __name__ == "__main__":
    program.main()
