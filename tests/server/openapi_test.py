#!/usr/bin/env python3
"""/openapi.json against the server: schemathesis makes requests from the document and compares what comes with it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import program
from program import Server

CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
          "response_headers_conformance,negative_data_rejection,unsupported_method")
# What may answer a request that the document forbids: every 4xx that it names.
SETTINGS = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 404, 405, 409, 413, 415, 422, 429, 431]
"""


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--context", "128", "--max-tokens", "2").__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_the_document_names_every_route(self):
        paths = self.server.ask("GET", "/openapi.json").json()["paths"]
        source = (pathlib.Path(__file__).parents[2] / "src" / "server" / "routes.cc").read_text()
        table = source[source.index("Routes::kRoutes[] = {"):]
        table = table[:table.index("\n};")]
        routes = set(re.findall(r'\{"(/[^"]*)", "(GET|POST)"', table)) | {("/v1/models/{model}", "GET")}
        self.assertGreater(len(routes), 10)
        documented = {(path, method.upper()) for path, methods in paths.items() for method in methods}
        self.assertEqual(routes, documented)

    def test_every_reference_leads_somewhere(self):
        document = self.server.ask("GET", "/openapi.json").json()

        def references(value):
            if isinstance(value, dict):
                if "$ref" in value:
                    yield value["$ref"]
                for inner in value.values():
                    yield from references(inner)
            elif isinstance(value, list):
                for inner in value:
                    yield from references(inner)

        used = set(references(document))
        self.assertGreater(len(used), 20)
        for reference in used:
            place = document
            for part in reference.removeprefix("#/").split("/"):
                self.assertIn(part, place, reference)
                place = place[part]

    def test_schemathesis_finds_no_500_and_nothing_undocumented(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "schemathesis.toml").write_text(SETTINGS)
            environment = {**os.environ, "SCHEMATHESIS_HOOKS": "openapi_hooks", "PYTHONPATH": os.path.dirname(__file__)}
            done = subprocess.run(
                [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run",
                 f"http://127.0.0.1:{self.server.port}/openapi.json", "--seed", "7", "--max-examples", "30", "--workers", "1",
                 "--phases", "examples,coverage,fuzzing", "--checks", CHECKS, "--no-shrink", "--generation-deterministic",
                 "--no-color", "--continue-on-failure", "--request-timeout", "30",
                 "--suppress-health-check", "all", "--warnings", "off"],
                cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout[-12000:] + done.stderr[-2000:])
        generated = re.search(r"(\d+) generated", done.stdout)
        self.assertGreater(int(generated.group(1)), 200, done.stdout[-3000:])
        self.assertEqual(self.server.ask("GET", "/health").status, 200)


if __name__ == "__main__":
    program.main()
