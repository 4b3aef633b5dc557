#!/usr/bin/env python3
"""ARCHITECTURE.md is true: includes follow its layer table, third-party headers stay behind their walls, DEPS agree.

The document's tables are the input. Each rule is also tried on a small made-up project that breaks it.
"""

import pathlib
import re
import tempfile
import unittest

import house

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
MODULE_CALL = re.compile(r"samebit_module\(\s*(\w+)([^)]*)\)")
KEYWORDS = {"SOURCES", "DEPS", "LIBS", "TESTS", "NUMERIC"}
# Headers of the operating system; standard C++ headers have no slash.
SYSTEM_FOLDERS = ("sys/", "linux/", "asm/", "netinet/", "arpa/")
# What the modules that make bits never include: iteration orders, clocks, entropy and locales have no place there.
NUMERIC_MODULES = ("arith", "kernels", "engine")
NEVER_IN_NUMERIC = {"unordered_map", "unordered_set", "chrono", "ctime", "time.h", "random", "locale", "iostream", "sstream"}


def find_problems(root):
    """Every sentence that says where the project under root breaks its own ARCHITECTURE.md."""
    document = (root / "ARCHITECTURE.md").read_text()
    layers = house.table(document, "layer", "module", "may include")
    dependencies = house.table(document, "dependency", "version", "licence")
    problems = []
    if not layers:
        problems.append("ARCHITECTURE.md has no layer table")
    if not dependencies:
        problems.append("ARCHITECTURE.md has no dependency table")

    level = {row["module"]: int(row["layer"]) for row in layers}
    allowed = {}
    for row in layers:
        module = row["module"]
        allowed[module] = set(level) if row["may include"] == "all" else set(house.names(row["may include"]))
        for other in allowed[module] - {module}:
            if other not in level:
                problems.append(f"layer table: {module} may include {other}, which has no row")
            elif level[other] >= level[module] and row["may include"] != "all":
                problems.append(f"layer table: {module} may include {other}, which is not in a lower layer")
        has_code = any(house.files(root / "src" / module, ".cc", ".h"))
        if has_code != (row["state"] == "here"):
            problems.append(f"layer table: {module} is marked '{row['state']}', src/{module} says otherwise")
    for folder in sorted((root / "src").iterdir()):
        if folder.is_dir() and folder.name not in level:
            problems.append(f"src/{folder.name} has no row in the layer table")

    walls = [(prefix, house.names(row["modules"]), row["dependency"])
             for row in dependencies for prefix in house.names(row["headers"])]
    for path in house.files(root / "src", ".cc", ".h", ".inc"):
        place = path.relative_to(root)
        module = place.parts[1]
        is_test = path.stem.endswith("_test")
        for kind, header in INCLUDE.findall(path.read_text()):
            wall = max((w for w in walls if header.startswith(w[0])), key=lambda w: len(w[0]), default=None)
            if wall:
                if module not in wall[1] and not (is_test and "tests" in wall[1]):
                    problems.append(f"{place}: <{header}> is {wall[2]}, allowed only in {', '.join(wall[1])}")
            elif kind == "<":
                if module in NUMERIC_MODULES and not is_test and header in NEVER_IN_NUMERIC:
                    problems.append(f"{place}: {module} may not depend on what <{header}> brings")
                if "/" in header and not header.startswith(SYSTEM_FOLDERS):
                    problems.append(f"{place}: <{header}> belongs to no dependency of ARCHITECTURE.md")
            else:
                other = header.split("/")[0]
                if other not in level:
                    problems.append(f'{place}: "{header}" does not start with a module')
                elif other != module and other not in allowed.get(module, ()):
                    problems.append(f'{place}: {module} may not include "{header}"')

    for module in level:
        problems += find_cmake_problems(root, module, allowed[module])
    for path in house.files(root, "Cargo.toml"):
        if path.relative_to(root).parts[:2] != ("src", "text"):
            problems.append(f"{path.relative_to(root)}: Rust lives behind the wall of src/text")
    return problems


def find_cmake_problems(root, module, allowed):
    """DEPS of the module: none that the table forbids, all that its sources include."""
    script = root / "src" / module / "CMakeLists.txt"
    if not script.is_file():
        return []
    problems = []
    text = re.sub(r"#.*", "", script.read_text())
    for name, arguments in MODULE_CALL.findall(text):
        words, keyword, deps = arguments.split(), None, set()
        for word in words:
            if word in KEYWORDS:
                keyword = word
            elif keyword == "DEPS":
                deps.add(word)
        if name != module:
            problems.append(f"src/{module}/CMakeLists.txt makes the module {name}")
        for other in sorted(deps - allowed):
            problems.append(f"src/{module}/CMakeLists.txt: DEPS names {other}, which {module} may not include")
        included = {header.split("/")[0]
                    for path in house.files(root / "src" / module, ".cc", ".h") if not path.stem.endswith("_test")
                    for kind, header in INCLUDE.findall(path.read_text()) if kind == '"'}
        for other in sorted((included & allowed) - deps - {module}):
            problems.append(f"src/{module}/CMakeLists.txt: DEPS does not name {other}, which its sources include")
    return problems


DOCUMENT = """
| layer | module | may include | state |
|---|---|---|---|
| 0 | base | – | here |
| 1 | arith | base | here |
| 1 | world | base | here |

| dependency | version | licence | why | headers | modules | state |
|---|---|---|---|---|---|---|
| Json | 1 | MIT | reads | `json/` | base | here |
| Tester | 1 | MIT | tests | `tester/` | tests | here |
"""


class LayersTest(unittest.TestCase):
    def problems_of(self, changes):
        """The problems of a sound small project after writing these files into it."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            content = {
                "ARCHITECTURE.md": DOCUMENT,
                "src/base/result.h": "#include <json/value.h>\n",
                "src/base/CMakeLists.txt": "samebit_module(base SOURCES result.cc)\n",
                "src/arith/norm.cc": '#include "base/result.h"\n#include <vector>\n',
                "src/arith/norm_test.cc": '#include <tester/tester.h>\n#include "arith/norm.h"\n',
                "src/arith/CMakeLists.txt": "samebit_module(arith SOURCES norm.cc DEPS base TESTS norm_test.cc)\n",
                "src/world/clock.h": "#include <sys/stat.h>\n",
            }
            content.update(changes)
            for name, text in content.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return find_problems(root)

    def assert_caught(self, changes, sentence):
        self.assertIn(sentence, "\n".join(self.problems_of(changes)))

    def test_this_project_keeps_its_table(self):
        problems = find_problems(house.ROOT)
        if problems:
            self.fail("\n" + "\n".join(problems))

    def test_accepts_a_sound_project(self):
        self.assertEqual([], self.problems_of({}))

    def test_catches_an_include_upwards_or_sideways(self):
        self.assert_caught({"src/arith/norm.cc": '#include "world/clock.h"\n'}, 'arith may not include "world/clock.h"')
        self.assert_caught({"src/base/result.h": '#include "arith/norm.h"\n'}, 'base may not include "arith/norm.h"')

    def test_catches_an_include_without_a_module(self):
        self.assert_caught({"src/arith/norm.cc": '#include "norm.h"\n'}, "does not start with a module")

    def test_catches_a_dependency_outside_its_wall(self):
        self.assert_caught({"src/world/clock.h": "#include <json/value.h>\n"}, "is Json, allowed only in base")
        self.assert_caught({"src/arith/norm.cc": "#include <tester/tester.h>\n"}, "is Tester, allowed only in tests")

    def test_catches_a_dependency_that_is_not_listed(self):
        self.assert_caught({"src/base/result.h": "#include <fmt/format.h>\n"}, "belongs to no dependency")

    def test_catches_a_numeric_module_with_an_order_of_its_own(self):
        self.assert_caught({"src/arith/norm.cc": "#include <unordered_map>\n"}, "may not depend on what <unordered_map> brings")
        self.assertEqual([], self.problems_of({"src/world/clock.h": "#include <chrono>\n"}))

    def test_catches_a_table_that_points_upwards(self):
        self.assert_caught({"ARCHITECTURE.md": DOCUMENT.replace("| base | – |", "| base | arith |")},
                           "base may include arith, which is not in a lower layer")

    def test_catches_a_row_without_code_and_code_without_a_row(self):
        self.assert_caught({"ARCHITECTURE.md": DOCUMENT.replace("| 1 | world | base | here |", "| 1 | world | base | planned |")},
                           "world is marked 'planned'")
        self.assert_caught({"src/magic/magic.h": "\n"}, "src/magic has no row")

    def test_catches_deps_that_disagree(self):
        self.assert_caught({"src/arith/CMakeLists.txt": "samebit_module(arith SOURCES norm.cc DEPS base world)\n"},
                           "DEPS names world")
        self.assert_caught({"src/arith/CMakeLists.txt": "samebit_module(arith SOURCES norm.cc)\n"},
                           "DEPS does not name base")

    def test_catches_rust_outside_text(self):
        self.assert_caught({"src/base/rust/Cargo.toml": "\n"}, "Rust lives behind the wall of src/text")


if __name__ == "__main__":
    unittest.main()
