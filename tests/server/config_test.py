#!/usr/bin/env python3
"""Settings from the command line, the environment and a file: who wins, what is said, and that nothing is loaded to check."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import program
from program import Server


def plain_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SAMEBIT_")}
    return {**kept, **more}


class Config(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "serve.yaml")
        # Not a model: whoever loaded it would say so.
        self.no_model = pathlib.Path(folder.name, "model.gguf")
        self.no_model.write_bytes(b"GGUF and nothing behind it")

    def check(self, text, *words, **environment):
        self.file.write_text(text)
        return subprocess.run([program.arguments.samebit, "serve", "--config", self.file, "--check-config", *words],
                              env=plain_environment(**environment), capture_output=True, text=True, timeout=60)

    def test_the_effective_settings_and_their_origins_are_printed_without_loading(self):
        done = self.check(f"model: {self.no_model}\nport: 1234\nmax-sequences: 3\nhost: 127.0.0.2\n", "--port", "5", "--json",
                          SAMEBIT_MAX_SEQUENCES="7", SAMEBIT_PORT="6")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        settings = {one["name"]: one for one in json.loads(done.stdout)["settings"]}
        said = {name: (settings[name]["values"], settings[name]["from"]) for name in ("port", "max-sequences", "host", "queue")}
        self.assertEqual(said, {"port": (["5"], "command line"), "max-sequences": (["7"], "environment"),
                                "host": (["127.0.0.2"], "file"), "queue": ([], "default")})
        self.assertEqual(settings["host"]["where"], f"{self.file}:4")
        self.assertEqual(settings["queue"]["default"], "512")
        text = self.check(f"model: {self.no_model}\n").stdout
        self.assertRegex(text, r"(?m)^port +8080 +default$")

    def test_every_flag_of_the_help_can_be_set_in_the_file(self):
        shown = self.check(f"model: {self.no_model}\n").stdout
        known = {line.split()[0] for line in shown.splitlines()}
        text = subprocess.run([program.arguments.samebit, "serve", "--help"], capture_output=True, text=True, timeout=60).stdout
        flags = {word[2:] for line in text.splitlines() if line.startswith("  --") for word in line.split()[:1]}
        self.assertLessEqual(flags - {"help", "check-config", "json"}, known)

    def test_what_is_wrong_is_said_in_a_sentence_and_ends_with_2(self):
        model = f"model: {self.no_model}\n"
        cases = [(model + "ports: 1\n", {}, ":2: unknown setting 'ports'; did you mean port?"),
                 (model + "port: many\n", {}, ":2: port: expected a whole number from 0 to 65535, found 'many'"),
                 (model + "port: [1, 2]\n", {}, ":2: port: expected one value, found a list"),
                 (model + "port: 1\nport: 2\n", {}, ":3: 'port' stands in line 2 already"),
                 (model + "server:\n  port: 1\n", {}, "settings are not nested"),
                 (model + "a: &a [x]\nb: [*a, *a]\n", {}, "anchors"),
                 (model + "api-keys: /does/not/exist\n", {}, "/does/not/exist"),
                 (model + "temperature: 0.001\n", {}, "temperature"),
                 (model, {"SAMEBIT_PROT": "1"}, "unknown environment variable 'SAMEBIT_PROT'; did you mean SAMEBIT_PORT?"),
                 (model, {"SAMEBIT_PORT": "tcp://10.0.0.1:80"}, "SAMEBIT_PORT: expected a whole number"),
                 ("port: 1\n", {}, "MODEL"),
                 ("model: /does/not/exist\n", {}, "/does/not/exist")]
        for text, environment, sentence in cases:
            with self.subTest(sentence):
                done = self.check(text, **environment)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(sentence, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_missing_file_is_said(self):
        done = subprocess.run([program.arguments.samebit, "serve", "--config", "/does/not/exist"], env=plain_environment(),
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/does/not/exist", done.stderr)

    def test_a_server_starts_from_a_file_alone(self):
        self.file.write_text(f"model: {program.arguments.model}\nport: 0\nserved-model-name: from-the-file\n")
        with Server("--config", self.file, model="") as server:
            self.assertEqual(server.ask("GET", "/v1/models").json()["data"][0]["id"], "from-the-file")


if __name__ == "__main__":
    program.main()
