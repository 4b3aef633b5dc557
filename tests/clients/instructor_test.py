#!/usr/bin/env python3
"""instructor against the server, in the mode that reads a JSON block out of an ordinary answer."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server"))

import instructor
import openai
import program
from program import Server
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


def shown(name, age):
    """A model this small needs to see what is wanted."""
    return [{"role": "user", "content": f"Extract: {name} is {age} years old."},
            {"role": "assistant", "content": f'```json\n{{\n  "name": "{name}",\n  "age": {age}\n}}\n```'}]


MESSAGES = [*shown("Mary", 40), *shown("Peter", 31), *shown("Anna", 19),
            {"role": "user", "content": "Extract: John is 25 years old."}]


class Instructor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--served-model-name", "smol").__enter__()
        cls.client = openai.OpenAI(base_url=f"http://127.0.0.1:{cls.server.port}/v1", api_key="none", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.__exit__()

    def ask(self, **fields):
        client = instructor.from_openai(self.client, mode=instructor.Mode.MD_JSON)
        return client.chat.completions.create_with_completion(model="smol", response_model=Person, messages=list(MESSAGES), max_tokens=96,
                                                              max_retries=0, extra_body={"return_token_ids": True}, **fields)

    def test_an_object_comes_out_and_it_is_the_same_again(self):
        for fields in ({"temperature": 0}, {"temperature": 0.2, "seed": 7}):
            with self.subTest(fields):
                person, raw = self.ask(**fields)
                self.assertEqual(person.model_dump(), {"name": "John", "age": 25})
                again, raw_again = self.ask(**fields)
                self.assertEqual(again.model_dump(), person.model_dump())
                self.assertEqual(raw_again.choices[0].token_ids, raw.choices[0].token_ids)
                self.assertEqual(raw_again.reproducibility, raw.reproducibility)


if __name__ == "__main__":
    program.main()
