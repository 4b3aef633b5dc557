#!/usr/bin/env python3
"""However an answer is asked for, it is the same: streamed, at once with others, in a list, again after a restart."""

import hashlib
import struct
import unittest

import program
from program import Server, at_once, gathered, loads, logprobs_of, whole

QUESTION = "Why is the sky blue? Explain it to a child."
PROMPTS = ["Name three rivers.", "Write a poem about a cat and a dog.", "What is 17 plus 4?", QUESTION,
           "List the planets.", "Translate 'good morning' into French.", "x", "Tell me a long story about a ship. " * 20]
# What must be equal between two runs of one request.
ALL = {"logprobs": True, "top_logprobs": 3, "return_token_ids": True}


def bits(value):
    return struct.pack("<f", value)


class Bits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--max-sequences", "16").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_a_stream_says_what_the_whole_answer_says(self):
        cases = [{"temperature": 0}, {"temperature": 0.9, "seed": 7}, {"temperature": 1.2, "seed": 8, "n": 3, "top_p": 0.9},
                 {"stop": ["light", "and"]}, {"min_tokens": 10, "frequency_penalty": 0.5}]
        for fields in cases:
            with self.subTest(fields):
                body = {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 64, **ALL, **fields}
                answer = self.server.post("/v1/chat/completions", body)
                chunks = self.server.stream("/v1/chat/completions", body)
                self.assertEqual(gathered(chunks), whole(answer))
                self.assertEqual(chunks[-1]["reproducibility"], answer["reproducibility"])
                self.assertEqual(chunks[0]["prompt_token_ids"], answer["prompt_token_ids"])
                plain = {k: v for k, v in body.items() if k not in ALL}
                texts = {i: c["text"] for i, c in gathered(self.server.stream("/v1/chat/completions", plain)).items()}
                self.assertEqual(texts, {i: c["text"] for i, c in whole(answer).items()})

    def test_a_stream_of_several_prompts_says_what_the_whole_answer_says(self):
        body = {"prompt": ["Once upon a time", "The capital of France", [1, 504]], "max_tokens": 20, "logprobs": 2, "n": 2,
                "temperature": 0.8, "seed": 5, "return_token_ids": True}
        answer = self.server.post("/v1/completions", body)
        self.assertEqual([c["index"] for c in answer["choices"]], list(range(6)))
        streamed = gathered(self.server.stream("/v1/completions", body))
        self.assertEqual(streamed, whole(answer))

    def test_characters_of_several_tokens_stream_whole(self):
        body = {"messages": [{"role": "user", "content": "Answer only with emoji: \U0001F600\U0001F680\U0001F408"}],
                "max_tokens": 48, "temperature": 1.5, "seed": 3}
        answer = self.server.post("/v1/chat/completions", body)
        chunks = self.server.stream("/v1/chat/completions", body)
        self.assertEqual(gathered(chunks)[0]["text"], whole(answer)[0]["text"])

    def test_eight_at_once_equal_one_alone(self):
        alone = whole(self.server.chat(QUESTION, max_tokens=96, **ALL))
        answers = at_once([lambda: self.server.chat(QUESTION, max_tokens=96, **ALL)] * 8)
        for answer in answers:
            self.assertEqual(whole(answer), alone)

    def test_mixed_neighbours_leave_every_answer_as_it_is_alone(self):
        jobs = [lambda p=p, i=i: self.server.chat(p, max_tokens=40, temperature=(0, 1.5)[i % 2], seed=i, **ALL)
                for i, p in enumerate(PROMPTS)]
        alone = [whole(job()) for job in jobs]
        self.assertEqual([whole(answer) for answer in at_once(jobs)], alone)
        self.assertEqual([whole(answer) for answer in at_once(jobs[::-1])], alone[::-1])

    def test_an_item_of_a_list_does_not_depend_on_its_place(self):
        fields = {"max_tokens": 24, "logprobs": 1}
        there = whole(self.server.complete(PROMPTS, **fields))
        back = whole(self.server.complete(PROMPTS[::-1], **fields))
        for i in range(len(PROMPTS)):
            self.assertEqual(there[i], back[len(PROMPTS) - 1 - i])
            self.assertEqual(there[i], whole(self.server.complete(PROMPTS[i], **fields))[0])

    def test_n_samples_are_distinct_and_the_same_the_next_time(self):
        fields = {"temperature": 1.0, "seed": 11, "max_tokens": 32, "n": 8, **ALL}
        first = whole(self.server.chat("Invent a name for a dragon.", **fields))
        self.assertEqual(len({tuple(c["ids"]) for c in first.values()}), 8)
        self.assertEqual(whole(self.server.chat("Invent a name for a dragon.", **fields)), first)
        fields["n"] = 1
        self.assertEqual(whole(self.server.chat("Invent a name for a dragon.", **fields))[0], first[0])

    def test_an_unseeded_answer_varies_and_its_reported_seed_replays_it(self):
        fields = {"temperature": 1.0, "max_tokens": 24, **ALL}
        first = self.server.chat(QUESTION, reproducibility_tier=0, **fields)
        second = self.server.chat(QUESTION, reproducibility_tier=0, **fields)
        self.assertNotEqual(first["reproducibility"]["seed"], second["reproducibility"]["seed"])
        self.assertNotEqual(whole(first), whole(second))
        seed = first["reproducibility"]["seed"]
        self.assertIsInstance(seed, str)
        again = self.server.chat(QUESTION, seed=seed, **fields)
        self.assertEqual(whole(again), whole(first))
        self.assertEqual(again["reproducibility"]["inference_fingerprint"], first["reproducibility"]["inference_fingerprint"])

    def test_scoring_prompt_and_answer_gives_the_log_probabilities_of_generation(self):
        made = self.server.complete("The capital of France is", max_tokens=40, logprobs=2, return_token_ids=True)
        prompt, answer = made["prompt_token_ids"], made["choices"][0]["token_ids"]
        scored = self.server.complete(prompt + answer, max_tokens=0, echo=True, logprobs=2)
        self.assertEqual(scored["usage"]["completion_tokens"], 0)
        generated = logprobs_of(made["choices"][0])
        rescored = logprobs_of(scored["choices"][0])
        self.assertIsNone(rescored[0][1])
        self.assertEqual(len(rescored), len(prompt) + len(answer))
        self.assertEqual([bits(t[1]) for t in rescored[len(prompt):]], [bits(t[1]) for t in generated])
        self.assertEqual(rescored[len(prompt):], generated)
        one_more = self.server.complete(prompt + answer, max_tokens=1, echo=True, logprobs=2)
        self.assertEqual(logprobs_of(one_more["choices"][0])[:-1], rescored)

    def test_offsets_point_at_the_tokens_in_the_text(self):
        answer = self.server.complete("Café “quoted” 你好 world", max_tokens=12, echo=True, logprobs=0)
        logprobs = answer["choices"][0]["logprobs"]
        text = answer["choices"][0]["text"]
        for token, offset in zip(logprobs["tokens"], logprobs["text_offset"]):
            if "\ufffd" not in token and not token.startswith("<|"):
                self.assertEqual(text[offset:offset + len(token)], token)

    def test_a_beam_search_is_the_same_streamed_and_again(self):
        fields = {"use_beam_search": True, "best_of": 4, "n": 2, "max_tokens": 16, "logprobs": 1, "return_token_ids": True}
        first = whole(self.server.complete("The best thing about rain is", **fields))
        self.assertEqual(len(first), 2)
        self.assertNotEqual(first[0]["ids"], first[1]["ids"])
        self.assertEqual(whole(self.server.complete("The best thing about rain is", **fields)), first)
        streamed = gathered(self.server.stream("/v1/completions", {"prompt": "The best thing about rain is", **fields}))
        self.assertEqual(streamed, first)

    def test_margins_come_with_log_probabilities_and_move_no_bit(self):
        fields = {"max_tokens": 24, "temperature": 0.9, "seed": 4, **ALL}
        body = {"messages": [{"role": "user", "content": QUESTION}], **fields, "return_margins": True}
        with_them, without = self.server.post("/v1/chat/completions", body), self.server.chat(QUESTION, **fields)
        self.assertEqual(whole(with_them), whole(without))
        self.assertEqual(with_them["reproducibility"], without["reproducibility"])
        entries = with_them["choices"][0]["logprobs"]["content"]
        for entry in entries:
            best = sorted((top["logprob"] for top in entry["top_logprobs"]), reverse=True)
            self.assertAlmostEqual(entry["logit_margin"], best[0] - best[1], places=4)
        streamed = [entry for chunk in self.server.stream("/v1/chat/completions", body) for choice in chunk["choices"]
                    for entry in (choice["logprobs"] or {"content": []})["content"]]
        self.assertEqual(streamed, entries)
        self.assertNotIn("logit_margin", without["choices"][0]["logprobs"]["content"][0])
        scored = self.server.complete("The sky", max_tokens=3, echo=True, logprobs=1, return_margins=True)
        margins = scored["choices"][0]["logprobs"]["logit_margins"]
        self.assertEqual([None, True], [margins[0], all(margin > 0 for margin in margins[1:])])
        refused = self.server.ask("POST", "/v1/completions", {"prompt": "x", "return_margins": True})
        self.assertEqual((400, "return_margins"), (refused.status, refused.error()["param"]))

    def test_equal_ties_and_top_k_one_are_greedy(self):
        greedy = whole(self.server.chat(QUESTION, max_tokens=32, **ALL))
        self.assertEqual(whole(self.server.chat(QUESTION, max_tokens=32, temperature=1, top_k=1, seed=5, **ALL)), greedy)

    def test_a_restart_with_other_settings_changes_no_bit(self):
        ask = {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 200, "temperature": 0.7, "seed": 3, **ALL}
        here = self.server.post("/v1/chat/completions", ask)
        for words in (["--threads", "1", "--max-sequences", "1"], ["--page-tokens", "16", "--prefill-chunk", "7", "--prefill-beside-decodes", "3"],
                      ["--isa", "scalar", "--no-prefix-cache"]):
            with self.subTest(words), Server(*words) as other:
                there = other.post("/v1/chat/completions", ask)
                self.assertEqual(whole(there), whole(here))
                mine, theirs = here["reproducibility"], there["reproducibility"]
                self.assertEqual(theirs["semantic_sha256"], mine["semantic_sha256"])
                self.assertEqual(theirs["numeric_sha256"], mine["numeric_sha256"])
                self.assertNotEqual(theirs["deployment_sha256"], mine["deployment_sha256"])

    def test_no_answer_reaches_another_request(self):
        nonces = [hashlib.sha256(bytes([i])).hexdigest()[:12] for i in range(24)]  # no pattern that a model could continue
        answers = at_once([lambda n=n: self.server.complete(f"{n} {n} {n} {n} {n}", max_tokens=12, echo=True) for n in nonces])
        for nonce, answer in zip(nonces, answers):
            self.assertIn(nonce, answer["choices"][0]["text"])
            self.assertFalse(any(other in answer["choices"][0]["text"] for other in nonces if other != nonce))

    def test_the_fingerprint_moves_with_every_parameter_and_comes_back(self):
        base = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, "seed": 1, "temperature": 0.5}
        changes = [{"temperature": 0.6}, {"top_p": 0.9}, {"top_k": 5}, {"min_p": 0.1}, {"repetition_penalty": 1.1},
                   {"presence_penalty": 0.1}, {"frequency_penalty": 0.1}, {"logit_bias": {"5": 1}}, {"seed": 2},
                   {"max_tokens": 2}, {"stop": ["x"]}, {"stop_token_ids": [9]}, {"ignore_eos": True}, {"min_tokens": 1}]
        seen = {self.server.post("/v1/chat/completions", base)["reproducibility"]["inference_fingerprint"]}
        for change in changes:
            answer = self.server.post("/v1/chat/completions", {**base, **change})
            self.assertNotIn(answer["reproducibility"]["inference_fingerprint"], seen, change)
            seen.add(answer["reproducibility"]["inference_fingerprint"])
        again = self.server.post("/v1/chat/completions", base)["reproducibility"]["inference_fingerprint"]
        self.assertIn(again, seen)

    def test_a_document_hashes_to_its_fingerprint(self):
        found = loads(self.server.ask("GET", "/v1/fingerprint").body)
        canonical = program.json.dumps(found["document"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self.assertEqual(found["inference_fingerprint"], "sha256:" + hashlib.sha256(canonical.encode()).hexdigest())
        for part in ("semantic", "numeric", "deployment"):
            text = program.json.dumps(found["document"][part], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            self.assertEqual(found[part + "_sha256"], hashlib.sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    program.main()
