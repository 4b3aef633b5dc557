#!/usr/bin/env python3
"""The page that is committed in web/built is what web/src makes, to the byte; and the page's own tests pass.

usage: built_test.py --node-modules FOLDER
"""

import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"
arguments = None


def build(change=None):
    """Builds a copy of web/; gives the two files. change: called with the copy before."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "web")
        shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules", "built"))
        (copy / "node_modules").symlink_to(arguments.node_modules, target_is_directory=True)
        if change:
            change(copy)
        for command in (["npm", "run", "--silent", "check"], ["npm", "test", "--silent"], ["npm", "run", "--silent", "build"]):
            done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise AssertionError(f"{' '.join(command)}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return {name: (copy / "built" / name).read_bytes() for name in ("page.html", "policy.txt")}


class Built(unittest.TestCase):
    def test_the_committed_page_is_a_fresh_build(self):
        for name, content in build().items():
            self.assertEqual(content, (WEB / "built" / name).read_bytes(),
                             f"web/built/{name} is not what web/src makes: run `npm ci && npm run build` in web/ and commit")

    def test_a_changed_source_changes_the_page_and_its_policy(self):
        def change(copy):
            path = copy / "src" / "legend.tsx"
            path.write_text(path.read_text().replace("Logit margin", "Logit margins"))
        for name, content in build(change).items():
            self.assertNotEqual(content, (WEB / "built" / name).read_bytes(), name)

    def test_a_wrong_type_stops_the_build(self):
        def change(copy):
            path = copy / "src" / "main.tsx"
            path.write_text(path.read_text() + "\nexport const wrong: number = 'text';\n")
        with self.assertRaisesRegex(AssertionError, "TS2322"):
            build(change)

    def test_the_policy_names_the_script_and_the_style_of_the_page(self):
        page = (WEB / "built" / "page.html").read_text()
        policy = (WEB / "built" / "policy.txt").read_text()
        for element in ("script", "style"):
            (content,) = re.findall(rf"<{element}[^>]*>(.*?)</{element}>", page, re.S)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"{element}-src 'sha256-{digest}';", policy)
        self.assertEqual(policy, policy.strip() + "\n")

    def test_the_lock_names_no_place_to_fetch_from(self):
        self.assertNotIn("resolved", (WEB / "package-lock.json").read_text())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--node-modules", required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=["built_test.py", *rest], verbosity=2)
