#!/usr/bin/env python3
"""The house is in order: every folder says what it is, files stay readable, nothing is left half done or unlisted."""

import pathlib
import re
import tempfile
import unittest

import house

LINES_MAX = 800  # a file that is longer holds more than one idea
README_LINES_MAX = 60
CODE = (".cc", ".h", ".inc", ".py", ".rs", ".sh", ".cmake", "CMakeLists.txt")
WRITTEN = CODE + (".md",)
# The marks of unfinished work; put together here so that this file does not hold them.
UNFINISHED = re.compile(r"\b(%s)\b" % "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")))


def find_problems(root):
    """Every sentence that says where the project under root is not in order."""
    problems = []
    for top in ("src", "tests", "docs", "tools"):
        for folder, names in house.walk(root / top):
            place = folder.relative_to(root)
            # Data folders and a crate's inner src are described by the README.md above them.
            if not names or len(place.parts) > 3 or "data" in place.parts[:-1] or place.parts[-2:] == ("rust", "src"):
                continue
            if "README.md" not in names:
                problems.append(f"{place}: no README.md")
            elif not 1 <= len((folder / "README.md").read_text().splitlines()) <= README_LINES_MAX:
                problems.append(f"{place}/README.md: should be 1 to {README_LINES_MAX} lines")

    for path in house.files(root, *WRITTEN):
        place = path.relative_to(root)
        lines = path.read_text().splitlines()
        if len(lines) > LINES_MAX:
            problems.append(f"{place}: {len(lines)} lines, more than {LINES_MAX}")
        if path.name.endswith(CODE):
            problems += [f"{place}:{number}: unfinished: {line.strip()[:80]}"
                         for number, line in enumerate(lines, 1) if UNFINISHED.search(line)]

    reached = reached_folders(root)
    for path in house.files(root, "CMakeLists.txt"):
        if path.parent not in reached:
            problems.append(f"{path.relative_to(root)}: no add_subdirectory leads here: it is not part of the build")
    for path in house.files(root, "_test.cc", "_test.py"):
        if not is_listed(path, root):
            problems.append(f"{path.relative_to(root)}: no CMakeLists.txt lists it: it would never run")
    return problems


def commands_of(folder):
    """The text of the folder's CMakeLists.txt without comments; empty where there is none."""
    script = folder / "CMakeLists.txt"
    return re.sub(r"#.*", "", script.read_text()) if script.is_file() else ""


def reached_folders(root):
    """Every folder that CMake enters from the root."""
    reached, waiting = set(), [root]
    while waiting:
        folder = waiting.pop()
        reached.add(folder)
        waiting += [folder / name for name in re.findall(r"add_subdirectory\(\s*([\w/.-]+)", commands_of(folder))]
    return reached


def is_listed(path, root):
    """True if the CMakeLists.txt of the test's folder, or of one above it, names the test.

    Its name may also be put together there: a function that says ${name}_test.py, and the name in a call of it.
    """
    for folder in path.relative_to(root).parents:
        text = commands_of(root / folder).replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")
        name = path.relative_to(root / folder).as_posix()
        ending = re.search(r"_test\.\w+$", name).group()
        wanted = [name] + ([name.removesuffix(ending)] if "${name}" + ending in text else [])
        if any(re.search(r"(?<![\w/.-])%s(?![\w/.-])" % re.escape(word), text) for word in wanted):
            return True
    return False


class FoldersTest(unittest.TestCase):
    def problems_of(self, changes):
        """The problems of a small project in good order after writing these files into it (None removes)."""
        content = {
            "CMakeLists.txt": "add_subdirectory(src/arith)\nadd_subdirectory(tests)\n",
            "src/README.md": "sources\n",
            "src/arith/README.md": "the law\n",
            "src/arith/CMakeLists.txt": "samebit_module(arith SOURCES norm.cc TESTS norm_test.cc)\n",
            "src/arith/norm_test.cc": "\n",
            "tests/README.md": "tests\n",
            "tests/CMakeLists.txt": "function(a_test name)\n  add_test(${name}_test.py)\nendfunction()\na_test(scripts)\n",
            "tests/scripts_test.py": "\n",
            "docs/README.md": "documents\n",
            "tools/README.md": "tools\n",
            "build/generated.cc": "// " + "TO" + "DO\n",
        }
        content.update(changes)
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in content.items():
                if text is not None:
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    (root / name).write_text(text)
            return find_problems(root)

    def assert_caught(self, changes, sentence):
        self.assertIn(sentence, "\n".join(self.problems_of(changes)))

    def test_this_project_is_in_order(self):
        problems = find_problems(house.ROOT)
        if problems:
            self.fail("\n" + "\n".join(problems))

    def test_accepts_a_project_in_order(self):
        self.assertEqual([], self.problems_of({}))

    def test_catches_a_folder_that_does_not_say_what_it_is(self):
        self.assert_caught({"src/arith/README.md": None}, "src/arith: no README.md")
        self.assert_caught({"src/arith/README.md": ""}, "src/arith/README.md: should be")

    def test_catches_a_file_that_is_too_long(self):
        self.assert_caught({"src/arith/norm.cc": "\n" * (LINES_MAX + 1)}, "src/arith/norm.cc: 801 lines")

    def test_catches_unfinished_work(self):
        self.assert_caught({"src/arith/norm.cc": "// FIX" + "ME: later\n"}, "src/arith/norm.cc:1: unfinished")

    def test_catches_a_test_that_nobody_lists(self):
        self.assert_caught({"src/arith/rope_test.cc": "\n"}, "src/arith/rope_test.cc: no CMakeLists.txt lists it")
        self.assert_caught({"src/arith/CMakeLists.txt": "samebit_module(arith TESTS big_norm_test.cc) # norm_test.cc\n"},
                           "src/arith/norm_test.cc: no CMakeLists.txt lists it")
        self.assert_caught({"tests/others_test.py": "\n"}, "tests/others_test.py: no CMakeLists.txt lists it")

    def test_catches_a_folder_that_the_build_never_enters(self):
        self.assert_caught({"CMakeLists.txt": "add_subdirectory(src/arith)\n"}, "tests/CMakeLists.txt: no add_subdirectory")


if __name__ == "__main__":
    unittest.main()
