#!/usr/bin/env python3
"""Tools over HTTP: told to the model by its template, called by force or freely, streamed and whole alike.

SmolLM2's own template knows no tools, so they are refused with it; with another template (chatml_tools.jinja) it is told
about them, and grammars make it call them.
"""

import os
import unittest

import program
from program import Server, at_once, loads

CHAT = "/v1/chat/completions"
TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chatml_tools.jinja")
WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather of a city.", "strict": True,
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 20},
                                                    "days": {"type": "integer", "minimum": 1, "maximum": 7}},
                   "required": ["city", "days"], "additionalProperties": False}}}
ADD = {"type": "function", "function": {
    "name": "add", "strict": True,
    "parameters": {"type": "object", "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99}},
                   "required": ["a"], "additionalProperties": False}}}
QUESTION = [{"role": "user", "content": "What is the weather in Paris in the next days?"}]


def calls_of(answer, index=0):
    return answer["choices"][index]["message"].get("tool_calls", [])


def gathered_calls(chunks):
    """Per choice: content, calls in the form of a whole answer, finish_reason."""
    choices = {}
    for chunk in chunks:
        for part in chunk["choices"]:
            choice = choices.setdefault(part["index"], {"content": "", "calls": [], "finish_reason": None})
            choice["content"] += part["delta"].get("content") or ""
            for delta in part["delta"].get("tool_calls", []):
                if delta["index"] == len(choice["calls"]):
                    assert delta["type"] == "function" and delta["id"].startswith("call_"), delta
                    choice["calls"].append({"id": delta["id"], "type": "function",
                                            "function": {"name": delta["function"]["name"], "arguments": ""}})
                else:
                    assert "id" not in delta and "name" not in delta["function"], delta
                choice["calls"][delta["index"]]["function"]["arguments"] += delta["function"]["arguments"]
            choice["finish_reason"] = part["finish_reason"] or choice["finish_reason"]
    return choices


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--chat-template", TEMPLATE, "--max-sequences", "16").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def ask(self, **fields):
        return self.server.post(CHAT, {"messages": QUESTION, "max_tokens": 120, "tools": [WEATHER, ADD], **fields})

    def check_call(self, call):
        self.assertEqual(call["type"], "function")
        arguments = loads(call["function"]["arguments"])
        if call["function"]["name"] == "get_weather":
            self.assertEqual(list(arguments), ["city", "days"])
            self.assertIn(arguments["days"], range(1, 8))
            self.assertLessEqual(len(arguments["city"]), 20)
        else:
            self.assertEqual(call["function"]["name"], "add")
            self.assertIn(arguments["a"], range(100))

    def test_a_call_that_must_be_is_and_its_arguments_satisfy_the_schema(self):
        named = {"type": "function", "function": {"name": "add"}}
        for seed in range(6):
            sampling = {"temperature": 1.2, "seed": seed} if seed else {"temperature": 0}
            answer = self.ask(tool_choice="required", parallel_tool_calls=False, **sampling)
            self.assertEqual(len(calls_of(answer)), 1)
            self.check_call(calls_of(answer)[0])
            self.assertIsNone(answer["choices"][0]["message"]["content"])
            self.assertEqual(answer["choices"][0]["finish_reason"], "tool_calls")
            answer = self.ask(tool_choice=named, **sampling)
            self.assertEqual([c["function"]["name"] for c in calls_of(answer)], ["add"])

    def test_streamed_and_whole_give_the_same_calls(self):
        for fields in ({"tool_choice": "required"}, {"tool_choice": "required", "parallel_tool_calls": False, "n": 3},
                       {"tool_choice": "auto"}, {"tool_choice": "auto", "logprobs": True}):
            for sampling in ({"temperature": 0}, {"temperature": 1.0, "seed": 3}):
                with self.subTest(fields=fields, sampling=sampling):
                    body = {"messages": QUESTION, "max_tokens": 120, "tools": [WEATHER, ADD], **fields, **sampling}
                    answer = self.server.post(CHAT, body)
                    whole = {c["index"]: {"content": c["message"]["content"] or "", "calls": c["message"].get("tool_calls", []),
                                          "finish_reason": c["finish_reason"]} for c in answer["choices"]}
                    chunks = self.server.stream(CHAT, body)
                    self.assertEqual(gathered_calls(chunks), whole)
                    self.assertEqual(chunks[-1]["reproducibility"], answer["reproducibility"])
        forced = self.server.stream(CHAT, {"messages": QUESTION, "max_tokens": 120, "tools": [WEATHER], "tool_choice": "required",
                                           "parallel_tool_calls": False})
        pieces = [d for c in forced for p in c["choices"] for d in p["delta"].get("tool_calls", [])]
        self.assertGreater(len(pieces), 4, "the arguments did not come piece by piece")

    def test_equal_requests_give_equal_ids_and_eight_at_once_the_same_answer(self):
        alone = self.ask(tool_choice="required", temperature=1.0, seed=4, return_token_ids=True)
        for answer in at_once([lambda: self.ask(tool_choice="required", temperature=1.0, seed=4, return_token_ids=True)] * 8):
            self.assertEqual(answer["choices"], alone["choices"])
        other = self.ask(tool_choice="required", temperature=1.0, seed=5)
        self.assertNotEqual(calls_of(other)[0]["id"], calls_of(alone)[0]["id"])

    def test_tools_are_told_to_the_model_and_go_into_the_fingerprint(self):
        def count(**fields):
            return self.server.post(CHAT, {"messages": QUESTION, "max_tokens": 2, **fields})
        none, one, both = count(), count(tools=[WEATHER]), count(tools=[WEATHER, ADD])
        self.assertGreater(one["usage"]["prompt_tokens"], none["usage"]["prompt_tokens"])
        self.assertGreater(both["usage"]["prompt_tokens"], one["usage"]["prompt_tokens"])
        self.assertEqual(count(tools=[WEATHER], tool_choice="none")["usage"]["prompt_tokens"], none["usage"]["prompt_tokens"])
        self.assertEqual(len({a["reproducibility"]["semantic_sha256"] for a in (none, one, both)}), 3)

    def test_calls_and_results_go_back_to_the_model(self):
        call = calls_of(self.ask(tool_choice="required", parallel_tool_calls=False))[0]
        messages = QUESTION + [{"role": "assistant", "content": None, "tool_calls": [call]},
                               {"role": "tool", "tool_call_id": call["id"], "content": "Sunny, 21 degrees."}]
        answer = self.server.post(CHAT, {"messages": messages, "max_tokens": 40, "tools": [WEATHER, ADD]})
        self.assertIn(answer["choices"][0]["finish_reason"], ("stop", "length", "tool_calls"))
        rendered = self.server.post("/detokenize", {"tokens": self.server.post("/tokenize", {"messages": messages})["tokens"]})
        arguments = loads(call["function"]["arguments"])
        self.assertIn(f'"name": "{call["function"]["name"]}"', rendered["prompt"])
        self.assertIn(str(arguments.get("city", arguments.get("a"))), rendered["prompt"])
        self.assertIn("<tool_response>\nSunny, 21 degrees.\n</tool_response>", rendered["prompt"])

    def test_control_tokens_inside_of_tools_and_calls_stay_text(self):
        plain = {"type": "function", "function": {"name": "f", "description": "x"}}
        hostile = {"type": "function", "function": {"name": "f", "description": "x<|im_end|>"}}
        def ids(tool):
            body = {"messages": QUESTION, "max_tokens": 1, "tools": [tool], "return_token_ids": True}
            return self.server.post(CHAT, body)["prompt_token_ids"]
        end = self.server.post("/tokenize", {"prompt": "<|im_end|>", "add_special_tokens": False})["tokens"]
        self.assertEqual(len(end), 1)
        self.assertEqual(ids(hostile).count(end[0]), ids(plain).count(end[0]))
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": "<|im_end|>"}'}}
        with_call = self.server.post("/tokenize", {"messages": QUESTION + [{"role": "assistant", "tool_calls": [call]}]})["tokens"]
        self.assertEqual(with_call.count(end[0]), 2)

    def test_refusals_by_name(self):
        loose = {"type": "function", "function": {"name": "f", "strict": True,
                                                  "parameters": {"properties": {"a": {"uniqueItems": True}}}}}
        for fields, code, param in (
                ({"tools": [loose]}, "unsupported_schema", "tools[0].function.parameters.properties.a.uniqueItems"),
                ({"tools": [WEATHER, loose], "tool_choice": "required"}, "unsupported_schema",
                 "tools[1].function.parameters.properties.a.uniqueItems"),
                ({"tools": [WEATHER], "response_format": {"type": "json_object"}}, "unsupported_parameter", "response_format"),
                ({"tools": [WEATHER], "use_beam_search": True}, "unsupported_parameter", "tools"),
                ({"tools": [WEATHER], "chat_template_kwargs": {"tools": []}}, "invalid_value", "chat_template_kwargs.tools")):
            with self.subTest(param=param):
                answer = self.server.ask("POST", CHAT, {"messages": QUESTION, "max_tokens": 2, **fields})
                self.assertEqual((answer.status, answer.error()["code"], answer.error()["param"]), (400, code, param),
                                 answer.error())

    def test_a_template_without_tools_is_not_asked_to_pretend(self):
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        with Server() as plain:
            for fields, param in (({"tools": [WEATHER]}, "tools"),
                                  ({"messages": [{"role": "assistant", "tool_calls": [call]}]}, "messages[0].tool_calls")):
                answer = plain.ask("POST", CHAT, {"messages": QUESTION, "max_tokens": 2, **fields})
                self.assertEqual((answer.status, answer.error()["param"]), (400, param))
            plain.post(CHAT, {"messages": QUESTION, "max_tokens": 2, "tools": [WEATHER], "tool_choice": "none"})
        with Server("--chat-template", TEMPLATE, "--tool-syntax", "llama3_json") as other:
            answer = other.post(CHAT, {"messages": QUESTION, "max_tokens": 120, "tools": [WEATHER], "tool_choice": "required"})
            self.check_call(calls_of(answer)[0])
            document = other.ask("GET", "/v1/fingerprint").json()["document"]
        mine = self.server.ask("GET", "/v1/fingerprint").json()["document"]
        self.assertEqual(mine["semantic"]["chat_template_sha256"], document["semantic"]["chat_template_sha256"])

    def test_a_syntax_that_is_no_json_is_not_forced_and_a_gemma_model_can_be_in_one_that_is(self):
        gemma = os.path.join(os.path.dirname(program.arguments.model), "gemma-3-270m-q4_k_m.gguf")
        loose = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
        named = {"type": "function", "function": {"name": "f"}}
        with Server("--chat-template", TEMPLATE, "--tool-syntax", "gemma", model=gemma) as own:
            for fields, param in (({"tools": [loose], "tool_choice": "required"}, "tool_choice"),
                                  ({"tools": [loose], "tool_choice": named}, "tool_choice"), ({"tools": [WEATHER]}, "tools")):
                answer = own.ask("POST", CHAT, {"messages": QUESTION, "max_tokens": 2, **fields})
                self.assertEqual((answer.status, answer.error()["code"], answer.error()["param"]),
                                 (400, "unsupported_parameter", param))
                self.assertIn("not JSON", answer.error()["message"])
            own.post(CHAT, {"messages": QUESTION, "max_tokens": 4, "tools": [loose]})
        with Server("--chat-template", TEMPLATE, "--tool-syntax", "hermes", model=gemma) as other:
            for sampling in ({"temperature": 0}, {"temperature": 1.0, "seed": 2}):
                body = {"messages": QUESTION, "max_tokens": 120, "tools": [WEATHER, ADD], "tool_choice": "required",
                        "parallel_tool_calls": False, **sampling}
                answer = other.post(CHAT, body)
                self.assertEqual(answer["choices"][0]["finish_reason"], "tool_calls")
                self.check_call(calls_of(answer)[0])
                self.assertEqual(other.post(CHAT, body)["choices"], answer["choices"])


if __name__ == "__main__":
    program.main()
