#!/usr/bin/env python3
"""What deploy/ promises: the unit is sound, the image has every library, and the program needs nothing to write and no rights."""

import os
import pathlib
import re
import stat
import subprocess
import tempfile
import unittest

import program
from program import Server

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
IN_EVERY_DEBIAN = {"libc6", "libgcc-s1", "libstdc++6"}


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


class Deploy(unittest.TestCase):
    def test_the_unit_is_sound_and_hardened(self):
        text = (DEPLOY / "samebit.service").read_text()
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, "samebit.service")
            unit.write_text(text.replace("/usr/local/bin/samebit", program.arguments.samebit))
            checked = run("systemd-analyze", "verify", "--man=no", str(unit))
            self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
            exposure = run("systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(unit))
            self.assertEqual(exposure.returncode, 0, exposure.stdout[-400:] + exposure.stderr)
            unit.write_text(text.replace("Type=exec", "Type=nonsense"))
            self.assertNotEqual(run("systemd-analyze", "verify", "--man=no", str(unit)).stderr, "", "the check cannot fail")

    def test_the_image_installs_every_library_that_the_program_loads(self):
        second_stage = (DEPLOY / "Containerfile").read_text().split("\nFROM ")[2]
        loaded = re.findall(r"=> (/\S+)", run("ldd", program.arguments.samebit).stdout)
        self.assertGreater(len(loaded), 4)
        for path in loaded:
            real = os.path.realpath(path)
            found = run("dpkg", "-S", real).stdout or run("dpkg", "-S", real.removeprefix("/usr")).stdout
            owner = found.split(":")[0]
            self.assertTrue(owner in IN_EVERY_DEBIAN or re.search(rf"\s{re.escape(owner)}\s", second_stage), f"{path}: {owner}")

    def test_the_stages_name_a_user_and_no_latest(self):
        text = (DEPLOY / "Containerfile").read_text()
        self.assertRegex(text, r"(?m)^USER 10001:10001$")
        for base in re.findall(r"(?m)^FROM (\S+)", text):
            self.assertTrue(base.endswith("debian:bookworm-slim"), base)

    def test_the_example_of_the_configuration_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            example = (DEPLOY / "serve.yaml").read_text().replace("/var/lib/models/model.gguf", program.arguments.model)
            path = pathlib.Path(folder, "serve.yaml")
            path.write_text(example)
            checked = run(program.arguments.samebit, "serve", "--config", str(path), "--check-config")
            self.assertEqual((checked.returncode, checked.stderr), (0, ""))
            # What stands there as a comment names settings too.
            names = set(re.findall(r"(?m)^# ([a-z-]+): ", example))
            known = {line.split()[0] for line in checked.stdout.splitlines()}
            self.assertGreater(len(names), 5)
            self.assertLessEqual(names, known)

    def test_a_running_server_has_no_file_open_for_writing_and_no_need_of_a_home(self):
        with Server() as server:
            self.assertTrue(server.complete("x", max_tokens=2)["choices"])
            folder = f"/proc/{server.process.pid}/fd"
            for name in os.listdir(folder):
                if not stat.S_ISREG(os.stat(os.path.join(folder, name)).st_mode):
                    continue
                flags = int(re.search(r"flags:\s+(\d+)", pathlib.Path(f"/proc/{server.process.pid}/fdinfo/{name}").read_text()).group(1), 8)
                self.assertEqual(flags & os.O_ACCMODE, os.O_RDONLY, os.readlink(os.path.join(folder, name)))
            with open(f"/proc/{server.process.pid}/maps", encoding="ascii") as file:
                self.assertFalse([line for line in file if re.search(r" rw.s .*/", line) and "/dev/" not in line])
        bare = run("env", "-i", program.arguments.samebit, "serve", program.arguments.model, "--check-config", cwd="/")
        self.assertEqual(bare.returncode, 0, bare.stderr)


if __name__ == "__main__":
    program.main()
