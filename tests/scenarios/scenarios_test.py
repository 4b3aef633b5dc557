#!/usr/bin/env python3
"""The scenarios that a single server can show, by number."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
import program  # noqa: E402
from program import Server, at_once, gathered, logprobs_of, whole  # noqa: E402

QUESTION = "Explain in detail how a bicycle stays upright, step by step."
SEEN = {"logprobs": True, "top_logprobs": 3, "return_token_ids": True}
LONG = {"max_tokens": 256, "ignore_eos": True, **SEEN}
TOPICS = ["rivers", "cats", "prime numbers", "bread", "volcanoes", "trains", "music", "glass", "clouds", "sleep"]
FORTY = [f"{verb} about {topic}." for topic in TOPICS
         for verb in ("Tell me a story", "Write three facts", "Ask me a question", "Write a poem")]
METRICS = {"steps": "samebit:engine_steps_total", "rows": "samebit:engine_rows_total",
           "cached": "samebit:prefix_cache_hits_total", "preempted": "samebit:num_preemptions_total"}


class Counted:
    """How the server's counters moved meanwhile."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        self.before = {key: self.server.metric(name) for key, name in METRICS.items()}
        return self

    def __exit__(self, *_):
        for key, name in METRICS.items():
            setattr(self, key, self.server.metric(name) - self.before[key])


class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--max-sequences", "40").__enter__()
        cls.alone = cls.ask(cls.server, QUESTION, **LONG)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    @staticmethod
    def ask(server, content, **fields):
        return whole(server.chat(content, **fields))

    def assert_batched(self, counted, sequences):
        self.assertGreater(counted.rows / counted.steps, sequences / 2, "they hardly ever ran in one batch")

    def test_01_one_prompt_from_eight_clients_at_once_has_one_answer(self):
        fields = {**LONG, "max_tokens": 1000}
        alone = self.ask(self.server, QUESTION, **fields)
        self.assertEqual(len(alone[0]["ids"]), 1000)
        with Counted(self.server) as counted:
            answers = at_once([lambda: self.ask(self.server, QUESTION, **fields)] * 8)
        self.assert_batched(counted, 8)
        self.assertEqual(answers, [alone] * 8)

    def test_02_a_seed_survives_restarts_with_one_two_and_four_slots(self):
        fields = {**LONG, "temperature": 0.8, "seed": 42}
        here = self.ask(self.server, QUESTION, **fields)
        for slots in (1, 2, 4):
            with Server("--max-sequences", slots) as other:
                self.assertEqual(at_once([lambda: self.ask(other, QUESTION, **fields)] * 4), [here] * 4, slots)

    def test_03_different_prompts_at_once_equal_their_solo_runs(self):
        jobs = [lambda p=p: self.ask(self.server, p, **LONG) for p in FORTY[:8]]
        solo = [job() for job in jobs]
        with Counted(self.server) as counted:
            together = at_once(jobs)
        self.assert_batched(counted, 8)
        self.assertEqual(together, solo)

    def test_04_every_batch_size_across_the_edges_gives_the_same_bits(self):
        fields = {**LONG, "max_tokens": 64, "logprobs": 3}
        del fields["top_logprobs"]
        alone = whole(self.server.complete(QUESTION, **fields))[0]
        for size in (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33):
            with Counted(self.server) as counted:
                answers = whole(self.server.complete([QUESTION] * size, **fields))
            self.assert_batched(counted, size)
            self.assertEqual(list(answers.values()), [alone] * size, size)

    def test_05_an_item_does_not_depend_on_its_place(self):
        fields = {"max_tokens": 256, "ignore_eos": True, "logprobs": 3, "return_token_ids": True}
        there = whole(self.server.complete(FORTY[:6], **fields))
        back = whole(self.server.complete(FORTY[:6][::-1], **fields))
        self.assertEqual([there[i] for i in range(6)], [back[5 - i] for i in range(6)])

    def test_06_hot_neighbours_have_no_effect(self):
        hot = {**LONG, "temperature": 2.0, "top_p": 0.95, "frequency_penalty": 1.0}
        jobs = [lambda: self.ask(self.server, QUESTION, **LONG)]
        jobs += [lambda i=i: self.ask(self.server, FORTY[i], seed=i, **hot) for i in range(7)]
        with Counted(self.server) as counted:
            answers = at_once(jobs)
        self.assert_batched(counted, 8)
        self.assertEqual(answers[0], self.alone)

    def test_07_first_second_and_nth_call_and_the_first_after_a_restart_agree(self):
        for _ in range(2):
            with Server() as fresh:
                for _ in range(3):
                    self.assertEqual(self.ask(fresh, QUESTION, **LONG), self.alone)

    def test_08_cold_flushed_cold_and_warm_agree_over_forty_prompts(self):
        def all_forty(server):
            fields = {**LONG, "max_tokens": 200}
            return at_once([lambda p=p: self.ask(server, "You know a lot. " * 12 + p, **fields) for p in FORTY])

        with Server("--max-sequences", "40") as first:
            cold = all_forty(first)
        with Server("--max-sequences", "40") as second:
            cold_again = all_forty(second)
            with Counted(second) as counted:
                warm = all_forty(second)
        self.assertGreater(counted.cached, 40 * 32)
        self.assertEqual(cold_again, cold)
        self.assertEqual(warm, cold)

    def test_09_shared_prefixes_around_a_page_do_not_diverge(self):
        prefix = list(range(1000, 1200))
        fields = {"max_tokens": 256, "ignore_eos": True, "logprobs": 3, "return_token_ids": True}
        prompts = [prefix[:n] + [2000 + i, 2001] for n in (63, 64, 65, 127, 128, 129) for i in range(2)]
        with Server("--no-prefix-cache") as uncached:
            expected = at_once([lambda p=p: whole(uncached.complete(p, **fields)) for p in prompts])
        self.server.complete(prefix, max_tokens=1)
        with Counted(self.server) as counted:
            found = at_once([lambda p=p: whole(self.server.complete(p, **fields)) for p in prompts])
        self.assertGreater(counted.cached, 0)
        self.assertEqual(found, expected)

    def test_10_what_was_asked_before_does_not_show(self):
        self.ask(self.server, FORTY[9], **LONG)
        self.assertEqual(self.ask(self.server, QUESTION, **LONG), self.alone)

    def test_11_the_prefix_cache_on_and_off_agree(self):
        question = "You know a lot. " * 12 + QUESTION
        found = []
        for words in ([], ["--no-prefix-cache"]):
            with Server(*words) as other:
                first = self.ask(other, question, **LONG)
                with Counted(other) as counted:
                    self.assertEqual(self.ask(other, question, **LONG), first)
            self.assertEqual(counted.cached > 0, not words)
            found.append(first)
        self.assertEqual(*found)

    def test_12_chunks_of_every_size_read_a_prompt_to_the_same_bits(self):
        prompt = list(range(3000, 3600))
        fields = {"max_tokens": 16, "echo": True, "logprobs": 3}
        here = whole(self.server.complete(prompt, **fields))
        for chunk in (1, 7, 64, 512):
            with Server("--prefill-chunk", chunk) as other, Counted(other) as counted:
                self.assertEqual(whole(other.complete(prompt, **fields)), here, chunk)
            self.assertGreaterEqual(counted.steps, 600 // chunk)

    def test_13_scoring_prompt_and_answer_repeats_the_log_probabilities(self):
        made = self.server.complete(QUESTION, max_tokens=256, ignore_eos=True, logprobs=3, return_token_ids=True)
        ids = made["prompt_token_ids"] + made["choices"][0]["token_ids"]
        scored = self.server.complete(ids, max_tokens=0, echo=True, logprobs=3)
        self.assertEqual(logprobs_of(scored["choices"][0])[-256:], logprobs_of(made["choices"][0]))

    def test_14_two_prompts_with_one_prefix_agree_on_it(self):
        prefix = list(range(4000, 4300))
        scores = [logprobs_of(self.server.complete(prefix + end, max_tokens=0, echo=True, logprobs=3)["choices"][0])
                  for end in ([5, 6, 7], [8, 9])]
        self.assertEqual(scores[0][:300], scores[1][:300])

    def test_15_preempted_and_recomputed_is_the_same(self):
        jobs = [lambda p=p: self.ask(self.server, p, **LONG) for p in FORTY[:12]]
        expected = at_once(jobs)
        with Server("--cache-mib", "24", "--context", "400") as small, Counted(small) as counted:
            found = at_once([lambda p=p: self.ask(small, p, **LONG) for p in FORTY[:12]])
        self.assertGreater(counted.preempted, 1)
        self.assertEqual(found, expected)

    def test_16_the_answer_says_which_log_probabilities_it_holds(self):
        hot = self.server.chat(QUESTION, **{**LONG, "temperature": 1.5, "seed": 1, "max_tokens": 8})
        self.assertIn("raw", str(hot["reproducibility"]))
        greedy = self.server.chat(QUESTION, **{**LONG, "max_tokens": 1})
        top = dict(logprobs_of(greedy["choices"][0])[0][2])
        first = logprobs_of(hot["choices"][0])[0]
        self.assertEqual(dict(first[2]), top)

    def test_17_a_seeded_request_beside_an_unseeded_one_keeps_its_stream(self):
        fields = {**LONG, "temperature": 1.0}
        alone = self.ask(self.server, QUESTION, seed=9, **fields)
        answers = at_once([lambda: self.ask(self.server, QUESTION, seed=9, **fields)] +
                          [lambda: self.ask(self.server, QUESTION, reproducibility_tier=0, **fields)] * 3)
        self.assertEqual(answers[0], alone)
        self.assertTrue(all(answer != alone for answer in answers[1:]))

    def test_18_the_reported_seed_replays_an_unseeded_answer(self):
        fields = {**LONG, "temperature": 1.0}
        first, second = (self.server.chat(QUESTION, reproducibility_tier=0, **fields) for _ in range(2))
        self.assertNotEqual(whole(first), whole(second))
        self.assertEqual(self.ask(self.server, QUESTION, seed=first["reproducibility"]["seed"], **fields), whole(first))

    def test_19_at_temperature_one_and_top_p_one_the_seed_matters(self):
        fields = {**LONG, "temperature": 1.0, "top_p": 1.0}
        one, other, again = (self.ask(self.server, QUESTION, seed=seed, **fields) for seed in (1, 2, 1))
        self.assertNotEqual(one, other)
        self.assertEqual(one, again)

    def test_20_eight_samples_of_one_seed_are_distinct_and_come_again(self):
        fields = {**LONG, "temperature": 1.0, "seed": 5, "n": 8}
        first, again = self.ask(self.server, QUESTION, **fields), self.ask(self.server, QUESTION, **fields)
        self.assertEqual(len({tuple(choice["ids"]) for choice in first.values()}), 8)
        self.assertEqual(first, again)
        fields["n"] = 3  # sample 2 without those after it
        self.assertEqual(self.ask(self.server, QUESTION, **fields)[2], first[2])

    def test_22_penalties_see_the_requests_own_history_only(self):
        fields = {**LONG, "temperature": 0.9, "seed": 3, "frequency_penalty": 0.7, "repetition_penalty": 1.2}
        alone = self.ask(self.server, QUESTION, **fields)
        answers = at_once([lambda i=i: self.ask(self.server, QUESTION if i == 3 else FORTY[i], **fields) for i in range(6)])
        self.assertEqual(answers[3], alone)

    def test_23_a_seed_changes_nothing_else(self):
        fields = {**LONG, "max_tokens": 16}
        plain, seeded = self.server.chat(QUESTION, **fields), self.server.chat(QUESTION, seed=7, **fields)
        self.assertEqual(whole(plain), whole(seeded))
        sampling = [dict(answer["reproducibility"]["effective_sampling"]) for answer in (plain, seeded)]
        for values in sampling:
            values.pop("seed", None)
        self.assertEqual(*sampling)
        self.assertEqual(seeded["reproducibility"]["seed"], "7")

    def test_24_streamed_and_whole_are_the_same_bytes(self):
        body = {"messages": [{"role": "user", "content": QUESTION}], **LONG}
        self.assertEqual(gathered(self.server.stream("/v1/chat/completions", body)), self.alone)

    def test_25_the_checkpoints_own_defaults_are_visible(self):
        sampling = self.server.chat("Hi", max_tokens=1)["reproducibility"]["effective_sampling"]
        self.assertTrue(all({"value", "source"} <= set(entry) or "from" in entry for entry in sampling.values()), sampling)

    def test_26_the_system_fingerprint_is_a_string_everywhere(self):
        body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4}
        answer = self.server.post("/v1/chat/completions", body)
        self.assertRegex(answer["system_fingerprint"], r"^samebit-.*-[0-9a-f]{16}$")
        chunks = self.server.stream("/v1/chat/completions", body)
        self.assertEqual({chunk["system_fingerprint"] for chunk in chunks}, {answer["system_fingerprint"]})

    def test_29_what_cannot_be_honoured_is_refused_by_name(self):
        answer = self.server.ask("POST", "/v1/chat/completions",
                                 {"messages": [{"role": "user", "content": "Hi"}], "modalities": ["audio"]})
        self.assertEqual((answer.status, answer.error()["param"]), (400, "modalities"))

    def test_31_no_answer_reaches_another_request(self):
        prompts = [f"Remember the number {i * 7919 + 1}." for i in range(32)]
        fields = {"max_tokens": 256, "ignore_eos": True, "return_token_ids": True}
        for prompt, answer in zip(prompts, at_once([lambda p=p: self.server.complete(p, echo=True, **fields) for p in prompts])):
            self.assertTrue(answer["choices"][0]["text"].startswith(prompt))

    def test_33_forced_to_other_instruction_sets_the_bits_stay(self):
        short = {**LONG, "max_tokens": 48}
        here = self.ask(self.server, QUESTION, **short)
        for isa in ("scalar", "avx2"):
            with Server("--isa", isa) as other:
                self.assertEqual(self.ask(other, QUESTION, **short), here, isa)

    def test_35_ids_are_kept_and_never_made_from_the_text(self):
        # Hot and long: among these ids are pairs that the tokenizer itself would never write.
        made = self.server.complete("x", max_tokens=256, ignore_eos=True, temperature=2.0, seed=1, logprobs=0,
                                    return_token_ids=True)
        choice = made["choices"][0]
        remade = self.server.post("/tokenize", {"prompt": choice["text"], "add_special_tokens": False})["tokens"]
        self.assertNotEqual(remade, choice["token_ids"])
        scored = self.server.complete(made["prompt_token_ids"] + choice["token_ids"], max_tokens=0, echo=True, logprobs=0)
        self.assertEqual(scored["choices"][0]["logprobs"]["token_logprobs"][-256:], choice["logprobs"]["token_logprobs"])


if __name__ == "__main__":
    program.main()
