#!/usr/bin/env python3
"""samebit prompt, on good templates and on real mistakes (tests/data/prompts)."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import program

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "prompts"


def run(*words):
    return subprocess.run([program.arguments.samebit, "prompt", *map(str, words)], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)


class Lint(unittest.TestCase):
    def test_good_templates_have_nothing_to_find(self):
        result = run("lint", DATA / "good")
        self.assertEqual((0, "nothing found in 3 files\n", ""), (result.returncode, result.stdout, result.stderr))

    def test_every_mistake_is_found_on_its_line_and_nothing_else(self):
        files = sorted((DATA / "bad").glob("*.yaml"))
        self.assertGreater(len(files), 15)
        rules = set()
        for path in files:
            expected = path.read_text().splitlines()[0].removeprefix("# expect: ").split()
            result = run("lint", path, "--json")
            findings = json.loads(result.stdout)["findings"]
            with self.subTest(path.name):
                self.assertEqual(1, result.returncode)
                self.assertEqual(sorted(expected), sorted(f"{one['rule']}@{one['line']}" for one in findings), findings)
                for one in findings:
                    self.assertEqual(str(path), one["file"])
                    self.assertTrue(one["why"] and one["fix"], one)
            rules |= {one["rule"] for one in findings}
        self.assertEqual({"clock", "clock-words", "random", "unordered-map", "no-output-format", "unpinned-version",
                          "does-not-render", "example-contradicts-format", "examples-disagree", "trailing-whitespace",
                          "invisible-character", "control-token", "unused-variable", "undefined-variable",
                          "contradictory-language", "contradictory-format", "contradictory-length", "schema", "syntax"}, rules)

    def test_people_get_file_line_rule_reason_and_advice(self):
        result = run("lint", DATA / "bad" / "no-version.yaml", DATA / "good")
        self.assertEqual(1, result.returncode)
        first, advice, last = result.stdout.splitlines()
        self.assertTrue(first.startswith(f"{DATA}/bad/no-version.yaml:2: unpinned-version: it has no version"), first)
        self.assertTrue(advice.startswith("    add `version: 1`"), advice)
        self.assertEqual("1 found in 4 files", last)

    def test_what_cannot_be_read_is_bad_input(self):
        for name, words in (("broken", "it is no YAML"), ("alias", "anchors (&name) are not taken"), ("text", "expected a map")):
            result = run("lint", DATA / "unreadable" / f"{name}.yaml")
            self.assertEqual(2, result.returncode, name)
            self.assertIn(words, result.stderr)
        self.assertEqual(2, run("lint", DATA / "nowhere").returncode)
        self.assertEqual(2, run("lint", DATA).returncode, "a folder without templates was taken for a clean one")
        both = run("lint", DATA / "unreadable" / "text.yaml", DATA / "bad" / "no-version.yaml")
        self.assertEqual(2, both.returncode)
        self.assertIn("unpinned-version", both.stdout)


class Others(unittest.TestCase):
    def test_list_and_hash_name_every_template(self):
        listed = run("list", DATA / "good")
        self.assertEqual(["extract-order@1.4.0", "sort-ticket@1", "sort-ticket@2"],
                         [line.split()[0] for line in listed.stdout.splitlines()])
        hashes = run("hash", DATA / "good").stdout.splitlines()
        self.assertEqual(3, len({line.split()[0] for line in hashes}))
        self.assertEqual([one["sha256"] for one in json.loads(run("list", DATA / "good", "--json").stdout)],
                         [line.split()[0] for line in hashes])

    def test_the_hash_is_that_of_the_canonical_document(self):
        shown = json.loads(run("show", DATA / "good", "--template", "sort-ticket@2", "--json").stdout)
        canonical = json.dumps(shown["document"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self.assertEqual(shown["sha256"], hashlib.sha256(canonical.encode()).hexdigest())
        self.assertEqual("samebit.prompt/1", shown["document"]["schema"])

    def test_every_changed_character_of_a_value_moves_the_hash_and_a_comment_does_not(self):
        source = (DATA / "good" / "sort-ticket-2.yaml").read_text()

        def hash_of(text):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "t.yaml")
                path.write_text(text)
                result = run("hash", path)
                self.assertEqual(0, result.returncode, (result.stderr, text))
                return result.stdout.split()[0]

        whole = hash_of(source)
        self.assertEqual(whole, hash_of("# a comment\n" + source + "\n# another\n"))
        seen = {whole}
        for old, new in (("Puts a support", "Puts a  support"), ("You sort", "you sort"), ("version: 2", "version: 3"),
                         ("at my neighbour", "at a neighbour"), ("assistant: delivery", "assistant: other"),
                         ("4000", "4001"), ("French]", "Dutch]"), ("default: English", "default: German"),
                         ("nothing else.", "nothing else!"), ("{{ ticket }}", "{{ ticket}}"), ("one word.\nuser", "one word!\nuser")):
            self.assertEqual(1, source.count(old), old)
            changed = hash_of(source.replace(old, new))
            self.assertNotIn(changed, seen, old)
            seen.add(changed)

    def test_render_prints_the_messages(self):
        result = run("render", DATA / "good", "--template", "sort-ticket@2", "--set", "ticket=Where is {{ it }}?")
        messages = json.loads(result.stdout)
        self.assertEqual(["system", "user", "assistant", "user", "assistant", "user"], [m["role"] for m in messages])
        self.assertEqual("Ticket:\nWhere is {{ it }}?", messages[-1]["content"])
        self.assertIn("writes in English;", messages[0]["content"])
        self.assertIn("Wrong answer: This is about billing.", messages[0]["content"])
        self.assertIn("Answer with one word", messages[0]["content"])

    def test_render_takes_values_of_every_type_from_a_file_and_from_words(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as values:
            json.dump({"mail": "Send 5.", "strict": False, "threshold": 0.25}, values)
            values.flush()
            result = run("render", DATA / "good" / "extract-order.yaml", "--values", values.name, "--set", "count_max=7")
            self.assertEqual("Below a certainty of 0.25 use null.\nMail:\nSend 5.", json.loads(result.stdout)[-1]["content"])
            words = run("render", DATA / "good" / "extract-order.yaml", "--set", "mail=Send 5.", "--set", "strict=false",
                        "--set", "threshold=0.25")
            self.assertEqual(result.stdout, words.stdout)
            twice = run("render", DATA / "good" / "extract-order.yaml", "--values", values.name, "--set", "mail=x")
            self.assertEqual(2, twice.returncode)

    def test_wrong_words_are_bad_input_with_a_sentence(self):
        path = DATA / "good" / "sort-ticket-2.yaml"
        for words, sentence in ((("render", path), "ticket: the template needs a value for it"),
                                (("render", path, "--set", "ticket=x", "--set", "colour=red"), "colour: the template has no such variable"),
                                (("render", path, "--set", "ticket"), "expected NAME=VALUE"),
                                (("render", path, "--set", "ticket=x", "--set", "language=Latin"), "expected one of English"),
                                (("render", path, "--set", "ticket=" + "x" * 4001), "at most 4000 characters"),
                                (("show", DATA / "good"), "say which one of"),
                                (("show", DATA / "good", "--template", "x@1"), "there is no 'x@1'"),
                                (("burn", path), "expected list, show, render, hash or lint"),
                                (("hash", DATA / "bad" / "no-version.yaml"), "no-version.yaml:2: it has no version"),
                                (("list", path, path), "stands in")):
            result = run(*words)
            self.assertEqual((2, ""), (result.returncode, result.stdout), words)
            self.assertIn(sentence, result.stderr)

    def test_a_file_that_is_too_large_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "large.yaml")
            path.write_text("name: x\nversion: 1\nuser: " + "y" * 300_000 + "\n")
            self.assertEqual(2, run("hash", path).returncode)
            shutil.copy(DATA / "good" / "extract-order.yaml", pathlib.Path(folder, "large.yaml"))
            self.assertEqual(0, run("hash", path).returncode)


if __name__ == "__main__":
    program.main()
