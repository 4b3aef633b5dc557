#!/usr/bin/env python3
"""instructor against the server, in its three ways of asking for a pydantic model.

- MD_JSON reads a JSON block out of an ordinary answer;
- JSON_SCHEMA gives the model's schema as response_format, so that a grammar holds the answer to it;
- TOOLS makes a tool of the model and forces its call; here with a template that tells about tools.
"""

import enum
import os
import sys
import typing
import unittest

SERVER_TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server")
sys.path.insert(0, SERVER_TESTS)

import instructor
import openai
import program
from instructor.core import InstructorRetryException
from program import Server
from pydantic import BaseModel, ConfigDict, Field, field_validator

TEMPLATE = os.path.join(SERVER_TESTS, "chatml_tools.jinja")


class Person(BaseModel):
    name: str
    age: int


class Closed(BaseModel):
    """No properties but those named: where others are allowed, a model this small goes on adding some."""

    model_config = ConfigDict(extra="forbid")


class Kind(enum.Enum):
    animal = "animal"
    place = "place"
    thing = "thing"


class Part(Closed):
    name: str = Field(max_length=12)
    size: int = Field(ge=1, le=9)


class Described(Closed):
    """What a text is about."""

    title: str = Field(min_length=1, max_length=20)
    kind: Kind
    sure: bool
    tags: list[typing.Literal["big", "small", "old", "new"]] = Field(min_length=1, max_length=3)
    parts: list[Part] = Field(min_length=1, max_length=2)
    owner: typing.Optional[Part]


class Even(Closed):
    """A rule that no schema says: the grammar cannot help, only asking again can."""

    number: int = Field(ge=0, le=9)

    @field_validator("number")
    @classmethod
    def is_even(cls, value):
        if value % 2:
            raise ValueError("must be even")
        return value


def shown(name, age):
    """A model this small needs to see what is wanted."""
    return [{"role": "user", "content": f"Extract: {name} is {age} years old."},
            {"role": "assistant", "content": f'```json\n{{\n  "name": "{name}",\n  "age": {age}\n}}\n```'}]


MESSAGES = [*shown("Mary", 40), *shown("Peter", 31), *shown("Anna", 19),
            {"role": "user", "content": "Extract: John is 25 years old."}]
TOPICS = ["a cat with a red hat", "the old bridge of Paris", "a bicycle"]
SAMPLINGS = ({"temperature": 0}, {"temperature": 1.0, "seed": 7})


class Instructor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--served-model-name", "smol", "--chat-template", TEMPLATE).__enter__()
        cls.client = openai.OpenAI(base_url=f"http://127.0.0.1:{cls.server.port}/v1", api_key="none", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.__exit__()

    def ask(self, mode, response_model, content, retries=0, **fields):
        client = instructor.from_openai(self.client, mode=mode)
        self.requests = []
        client.on("completion:kwargs", lambda *_, **fields: self.requests.append(fields))
        messages = list(content) if isinstance(content, list) else [{"role": "user", "content": content}]
        return client.chat.completions.create_with_completion(
            model="smol", response_model=response_model, messages=messages, max_retries=retries,
            extra_body={"return_token_ids": True}, **{"max_tokens": 600, **fields})

    def check_twice(self, mode, response_model, content, **fields):
        """The model that came out; asking again gives it again, bit for bit."""
        made, raw = self.ask(mode, response_model, content, **fields)
        again, raw_again = self.ask(mode, response_model, content, **fields)
        self.assertEqual(again.model_dump(), made.model_dump())
        self.assertEqual(raw_again.choices[0].token_ids, raw.choices[0].token_ids)
        self.assertEqual(raw_again.choices[0].message, raw.choices[0].message)
        self.assertEqual(raw_again.reproducibility, raw.reproducibility)
        return made, raw

    def test_an_object_comes_out_and_it_is_the_same_again(self):
        for fields in ({"temperature": 0}, {"temperature": 0.2, "seed": 7}):
            with self.subTest(fields):
                person, _ = self.check_twice(instructor.Mode.MD_JSON, Person, MESSAGES, max_tokens=96, **fields)
                self.assertEqual(person.model_dump(), {"name": "John", "age": 25})

    def test_a_schema_makes_the_model_with_its_parts_lists_and_choices(self):
        for sampling in SAMPLINGS:
            for topic in TOPICS:
                with self.subTest(sampling=sampling, topic=topic):
                    made, raw = self.check_twice(instructor.Mode.JSON_SCHEMA, Described, f"Describe {topic}.", **sampling)
                    self.assertIsInstance(made, Described)
                    self.assertIsInstance(made.parts[0], Part)
                    self.assertIsInstance(made.kind, Kind)
                    self.assertEqual(raw.choices[0].finish_reason, "stop")
                    self.assertEqual(Described.model_validate_json(raw.choices[0].message.content).model_dump(), made.model_dump())

    def test_a_forced_tool_makes_the_model_and_it_is_called_by_its_name(self):
        for sampling in SAMPLINGS:
            for strict in ({}, {"strict": True}):
                with self.subTest(sampling=sampling, strict=strict):
                    made, raw = self.check_twice(instructor.Mode.TOOLS, Described, f"Describe {TOPICS[0]}.", **sampling, **strict)
                    self.assertIsInstance(made, Described)
                    self.assertEqual(raw.choices[0].finish_reason, "tool_calls")
                    calls = raw.choices[0].message.tool_calls
                    self.assertEqual([call.function.name for call in calls], ["Described"])
                    self.assertEqual(Described.model_validate_json(calls[0].function.arguments).model_dump(), made.model_dump())

    def test_a_list_of_models_is_wrapped_and_comes_out_as_a_list(self):
        for mode in (instructor.Mode.JSON_SCHEMA, instructor.Mode.TOOLS):
            with self.subTest(mode=mode):
                class Parts(Closed):
                    parts: list[Part] = Field(min_length=2, max_length=3)
                made, _ = self.check_twice(mode, Parts, "Name the parts of a bicycle.", temperature=0.7, seed=3)
                self.assertIn(len(made.parts), (2, 3))
                self.assertTrue(all(1 <= part.size <= 9 for part in made.parts))

    def test_what_only_pydantic_sees_is_asked_again_with_the_error_and_the_same_way_each_time(self):
        """instructor sends the rejected answer and the reason with the same seed; the prompt is another one, so the answer may be."""
        for mode in (instructor.Mode.JSON_SCHEMA, instructor.Mode.TOOLS):
            asked_again = refused = 0
            for seed in range(8):
                fields = {"temperature": 1.5, "seed": seed}
                outcomes = []
                for _ in range(2):
                    try:
                        made, raw = self.ask(mode, Even, "A number?", retries=4, **fields)
                        self.assertEqual(made.number % 2, 0)
                        outcome = (made.number, raw.choices[0].token_ids)
                    except InstructorRetryException as failure:
                        outcome = ("none", failure.last_completion.choices[0].token_ids)
                        refused += 1
                    self.assertEqual({request["seed"] for request in self.requests}, {seed})
                    outcomes.append((*outcome, len(self.requests)))
                with self.subTest(mode=mode, seed=seed):
                    self.assertEqual(outcomes[0], outcomes[1])
                asked_again += outcomes[0][-1] > 1
            self.assertGreater(asked_again, 0, f"{mode}: no answer was ever rejected")
            self.assertLess(refused, 16, f"{mode}: no answer was ever good")


if __name__ == "__main__":
    program.main()
