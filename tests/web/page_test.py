#!/usr/bin/env python3
"""The page at / in a real browser, on the real server with the real model.

usage: page_test.py --samebit PROGRAM --model FILE [--screenshot FILE]

With --screenshot the picture of the documentation is made as well.
"""

import hashlib
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
import program  # noqa: E402
from program import Server  # noqa: E402

from browser import Browser, Tab  # noqa: E402

screenshot_path = None
if "--screenshot" in sys.argv:
    at = sys.argv.index("--screenshot")
    screenshot_path = sys.argv[at + 1]
    del sys.argv[at:at + 2]

PROMPT = "Name three colours and say where one sees them."
ALL = {"logprobs": True, "top_logprobs": 5, "return_margins": True, "return_token_ids": True}
ENDED = "document.querySelectorAll('article[data-status=\"done\"]').length === 2"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser().__enter__()
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.browser.__exit__()

    def setUp(self):
        self.tab = self.new_tab()
        self.expected_complaints, self.stopped = [], []

    def new_tab(self, server=None, **size):
        tab = Tab(self.browser, **size)
        self.addCleanup(tab.close)
        self.origin = f"http://127.0.0.1:{(server or self.server).port}"
        tab.open(self.origin + "/")
        return tab

    def tearDown(self):
        self.assertEqual([], [text for text in self.tab.complaints()
                              if not any(expected in text for expected in self.expected_complaints)])
        for url in self.tab.asked_urls():
            self.assertTrue(url.startswith((self.origin + "/", "data:", "about:", *self.stopped)), url)

    def ask(self, prompt=PROMPT, a=None, b=None, system=""):
        """Fills the form and runs both; a and b: (temperature, seed, tokens)."""
        self.tab.wait("document.querySelector('[name=prompt]') !== null")
        self.tab.fill("[name=prompt]", prompt)
        self.tab.fill("[name=system]", system)
        for side, values in (("A", a), ("B", b or a)):
            for name, value in zip(("temperature", "seed", "tokensMax"), values):
                self.tab.fill(f"[name={name}-{side}]", str(value))
        self.tab.click("[name=run-both]")

    def answer(self, temperature, seed, tokens, prompt=PROMPT):
        return self.server.chat(prompt, temperature=temperature, seed=seed, max_tokens=tokens, **ALL)["choices"][0]

    def shown_tokens(self, side):
        return self.tab.value(f"[...document.querySelectorAll('article[data-side={side}] .token[data-at]')]"
                              ".map((token) => token.textContent)")

    def detail(self, side, name):
        return self.tab.value(f"document.querySelector('article[data-side={side}] [data-name={name}]')"
                              "?.firstChild.textContent.trim()")

    def test_shows_what_the_server_is(self):
        known = self.server.ask("GET", "/v1/fingerprint").json()
        self.tab.wait("document.querySelector('.state')?.innerText === 'ready'")
        self.assertIn("smollm2-135m-instruct-q4_1", self.tab.text(".model"))
        for name, value in (("Fingerprint", known["inference_fingerprint"]), ("semantic", known["semantic_sha256"]),
                            ("numeric", known["numeric_sha256"]), ("deployment", known["deployment_sha256"])):
            self.assertEqual(value, self.tab.text(f"header [data-name={name}]"))
        self.assertEqual("0", self.tab.text("[data-name=Running]"))
        self.assertEqual("8192", self.tab.text("[data-name=Context]"))
        self.assertRegex(self.tab.wait("/^[0-9]+$/.exec(document.querySelector('[data-name=\"Tokens/s\"]').innerText)?.[0]"),
                         "^[0-9]+$")

    def test_streams_the_answer_that_the_interface_gives(self):
        expected = self.answer(0, 1, 120)
        self.tab.value("""window.counts = []; new MutationObserver(() => window.counts.push(
            document.querySelectorAll('article[data-side=A] .token[data-at]').length))
            .observe(document.body, {childList: true, subtree: true})""")
        self.ask(a=(0, 1, 120))
        self.tab.wait(ENDED)
        counts = self.tab.value("window.counts")
        total = len(expected["token_ids"])
        self.assertTrue(any(0 < count < total for count in counts), "it came in one piece")
        for side in "AB":
            tokens = self.tab.value(f"[...document.querySelectorAll('article[data-side={side}] .token[data-at]:not(.unseen)')]"
                                    ".map((token) => token.textContent).join('')")
            self.assertEqual(expected["message"]["content"], tokens)
            self.assertEqual(total, len(self.shown_tokens(side)))
        self.assertEqual(f"equal: {total} tokens, bit for bit", self.tab.text(".verdict"))
        self.tab.click("article[data-side=A] summary")
        self.assertTrue(self.tab.text("article[data-side=A] [data-name=Fingerprint]").startswith("sha256:"))

    def test_pointing_at_a_token_shows_its_numbers_in_both_answers(self):
        expected = self.answer(0.9, 5, 24)["logprobs"]["content"]
        self.ask(a=(0.9, 5, 24))
        self.tab.wait(ENDED)
        for at in (0, 3, 11):
            self.tab.hover(f"article[data-side=B] [data-at='{at}']")
            self.tab.wait(f"document.querySelector('article[data-side=B] .chosen')?.dataset.at === '{at}'")
            for side in "AB":
                self.assertEqual(expected[at]["logprob"], float(self.detail(side, "logprob")))
                self.assertEqual(expected[at]["logit_margin"], float(self.detail(side, "margin")))
                self.assertEqual(5, self.tab.value(f"document.querySelectorAll('article[data-side={side}] .detail li').length"))
        classes = {0.1: "coin-toss", 0.5: "close", 2: "likely", float("inf"): "clear"}
        for at, entry in enumerate(expected):
            name = next(name for bound, name in classes.items() if entry["logit_margin"] < bound)
            self.assertIn(name, self.tab.value(f"document.querySelector('article[data-side=A] [data-at=\"{at}\"]').className"))

    def test_another_seed_marks_the_first_token_that_differs(self):
        ids = [self.answer(1.2, seed, 40)["token_ids"] for seed in (5, 6)]
        first = next(at for at, (a, b) in enumerate(zip(*ids)) if a != b)
        self.ask(a=(1.2, 5, 40), b=(1.2, 6, 40))
        self.tab.wait(ENDED)
        self.assertTrue(self.tab.text(".verdict").startswith(f"first difference at token {first + 1}: "))
        for side in "AB":
            marked = self.tab.value(f"[...document.querySelectorAll('article[data-side={side}] .difference')].map((t) => t.dataset.at)")
            self.assertEqual([str(first)], marked)
        self.tab.fill("[name=seed-B]", "5")
        self.tab.click("[name=run-B]")
        self.tab.wait("document.querySelector('.verdict.equal') !== null")
        self.assertEqual(f"equal: {len(ids[0])} tokens, bit for bit", self.tab.text(".verdict"))
        self.tab.fill("[name=tokensMax-B]", "10")
        self.tab.click("[name=run-B]")
        self.tab.wait("document.querySelector('.verdict.one-ends') !== null")
        self.assertIn("equal for 10 tokens, bit for bit; then B ends", self.tab.text(".verdict"))
        self.tab.fill("[name=prompt]", PROMPT + " Now.")
        self.tab.click("[name=run-B]")
        self.tab.wait("document.querySelector('.verdict.prompts-differ') !== null")

    def test_text_of_the_model_is_never_markup(self):
        prompt = "Write a small HTML page with a heading, <b>bold</b> text and a <script> that calls alert."
        expected = self.answer(0, 1, 150, prompt=prompt)["message"]["content"]
        self.assertIn("<", expected, "the model wrote no markup: nothing would be tested")
        self.ask(prompt=prompt, a=(0, 1, 150))
        self.tab.wait(ENDED)
        self.assertEqual([], self.tab.value("[...document.querySelectorAll('.tokens *')].filter((e) => !e.matches('span.token'))"
                                            ".map((e) => e.outerHTML)"))
        self.assertIn(expected[:40], self.tab.value("document.querySelector('article[data-side=A] .tokens').textContent"))

    def test_a_refusal_is_shown_as_the_server_says_it(self):
        self.expected_complaints = ["400 (Bad Request)"]
        self.ask(a=(1, "", 8))
        self.tab.wait("document.querySelectorAll('article[data-status=failed] .problem').length === 2")
        self.assertIn("seed_required", self.tab.text("article[data-side=A] .problem"))
        self.assertNotIn("equal", self.tab.text(".verdict"))

    def test_stop_ends_the_answers_and_frees_their_places(self):
        self.ask(prompt="Write a long story about a ship, a storm and a lighthouse.", a=(0, 1, 4000))
        self.tab.wait("document.querySelectorAll('article[data-side=B] .token').length > 3")
        self.tab.click("[name=stop]")
        self.tab.wait("document.querySelectorAll('article[data-status=stopped]').length === 2")
        self.server.wait_for(lambda: self.server.metric("samebit:num_requests_running") == 0, what="the end of both answers")

    def test_the_keyboard_alone_does_it_all(self):
        self.tab.wait("document.querySelector('.state')?.innerText === 'ready'")
        focused = "document.activeElement.getAttribute('name') ?? document.activeElement.className"

        def tab_to(name):
            for _ in range(40):
                self.tab.press("Tab")
                if self.tab.value(focused) == name:
                    return
            self.fail(f"the Tab key does not lead to {name}")

        tab_to("prompt")
        self.tab.call("Input.insertText", text="Say hello.")
        tab_to("run-both")
        self.assertNotEqual("none", self.tab.value("getComputedStyle(document.activeElement).outlineStyle"))
        self.tab.press("Enter")
        self.tab.wait(ENDED)
        tab_to("tokens")
        self.tab.press("ArrowRight", 2)
        self.tab.wait("document.querySelector('article[data-side=A] .chosen')?.dataset.at === '2'")
        self.assertEqual("2", self.tab.value("document.querySelector('article[data-side=B] .chosen').dataset.at"))
        self.tab.press("End")
        last = len(self.shown_tokens("A")) - 1
        self.tab.wait(f"document.querySelector('article[data-side=A] .chosen')?.dataset.at === '{last}'")
        self.tab.press("Escape")
        self.tab.wait("document.querySelector('.chosen') === null")

    def test_a_long_answer_scrolls_in_its_box_to_the_chosen_token(self):
        self.ask(prompt="Write a long story about a ship, a storm and a lighthouse.", a=(0, 1, 500))
        self.tab.wait(ENDED)
        self.tab.value("document.querySelector('article[data-side=A] .tokens').focus()")
        for key in ("Home", "End"):
            self.tab.press(key)
            at = 0 if key == "Home" else len(self.shown_tokens("A")) - 1
            for side in "AB":
                self.tab.wait(f"""(() => {{
                    const box = document.querySelector('article[data-side={side}] .tokens').getBoundingClientRect();
                    const token = document.querySelector('article[data-side={side}] .chosen[data-at="{at}"]')?.getBoundingClientRect();
                    return token && token.top >= box.top && token.bottom <= box.bottom + 1;
                }})()""", seconds=10)
        self.assertLess(self.tab.value("document.querySelector('.tokens').clientHeight"),
                        self.tab.value("document.querySelector('.tokens').scrollHeight"), "nothing to scroll")

    def test_a_narrow_screen_needs_no_sideways_scrolling(self):
        for width in (320, 360, 1200):
            self.tab.resize(width, 700)
            self.ask(a=(1.2, 5, 40), b=(1.2, 6, 40))
            self.tab.wait(ENDED)
            self.tab.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            self.tab.hover("article[data-side=A] [data-at='2']")
            self.assertLessEqual(self.tab.value("document.documentElement.scrollWidth"), width)

    def test_text_can_be_read_on_every_colour_light_and_dark(self):
        self.ask(a=(1.2, 5, 40))
        self.tab.wait(ENDED)
        for scheme in ("light", "dark"):
            self.tab.prefer(scheme)
            for ratio, what in self.tab.value("""(() => {
                const numbers = (text) => text.match(/[0-9.]+/g).map(Number);
                const light = (colour) => numbers(colour).slice(0, 3).map((v) => v / 255)
                    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
                const behind = (element) => {
                    const colour = getComputedStyle(element).backgroundColor;
                    return numbers(colour)[3] === 0 ? behind(element.parentElement) : colour;
                };
                return [...document.querySelectorAll('.legend .token, .token[data-at], .state, dt, small, label, button, h1, .hint')]
                    .filter((element) => !element.disabled && !element.matches('.unseen'))
                    .map((element) => {
                        const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => y - x);
                        return [(a + 0.05) / (b + 0.05), element.className + ' ' + element.innerText];
                    });
            })()"""):
                self.assertGreaterEqual(ratio, 4.5, (scheme, what))
        self.tab.prefer("light")

    def test_the_policy_stops_foreign_code_and_foreign_servers(self):
        self.expected_complaints = ["Content Security Policy", "violates", "Refused"]
        broken = self.tab.value("""new Promise((resolve) => {
            const broken = [];
            document.addEventListener('securitypolicyviolation', (event) => {
                broken.push(event.effectiveDirective);
                if (broken.length === 3) resolve(broken.sort());
            });
            const script = document.createElement('script');
            script.textContent = 'window.foreign = true';
            document.body.append(script);
            const style = document.createElement('style');
            style.textContent = 'body { display: none }';
            document.body.append(style);
            fetch('http://127.0.0.2:9/').catch(() => {});
        })""")
        self.assertEqual(["connect-src", "script-src-elem", "style-src-elem"], broken)
        self.assertIsNone(self.tab.value("window.foreign"))
        # What was stopped never left the browser, but it is listed as asked for.
        self.stopped = ["http://127.0.0.2:9/"]

    def test_a_key_is_asked_for_and_stays_in_memory(self):
        self.expected_complaints = ["401 (Unauthorized)"]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as keys:
            keys.write("reader " + hashlib.sha256(b"correct horse").hexdigest() + "\n")
            keys.flush()
            with Server("--api-keys", keys.name) as server:
                self.tab = self.new_tab(server)
                self.tab.wait("document.querySelector('.state')?.innerText === 'needs a key'")
                self.tab.fill("[name=key]", "correct horse")
                self.tab.press("Enter")
                self.tab.wait("document.querySelector('.state')?.innerText === 'ready'")
                self.ask(a=(0, 1, 8))
                self.tab.wait(ENDED)
                self.assertEqual([0, 0, "", self.origin + "/"],
                                 self.tab.value("[localStorage.length, sessionStorage.length, document.cookie, location.href]"))
                self.tab.reload()
                self.tab.wait("document.querySelector('.state')?.innerText === 'needs a key'")

    def test_waiting_outlives_a_page_that_is_replaced(self):
        again = "window.name === 'again' || (window.name = 'again', location.reload(), new Promise(() => {}))"
        self.assertTrue(self.tab.wait(again))

    def test_the_headers_are_those_of_a_page_that_trusts_nobody(self):
        answer = self.server.ask("GET", "/")
        self.assertEqual(200, answer.status)
        self.assertEqual("text/html; charset=utf-8", answer.headers["content-type"])
        policy = answer.headers["content-security-policy"]
        for rule in ("default-src 'none'", "connect-src 'self'", "script-src 'sha256-", "style-src 'sha256-",
                     "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"):
            self.assertIn(rule, policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual("nosniff", answer.headers["x-content-type-options"])
        self.assertLess(len(answer.body), 150_000)
        self.assertEqual(405, self.server.ask("POST", "/", {}).status)

    if screenshot_path:
        def test_makes_the_picture_of_the_documentation(self):
            self.tab.resize(1100, 900)
            self.ask(prompt="Why is the sky blue? Answer in two sentences.", a=(0.6, 5, 64), b=(0.6, 6, 64))
            self.tab.wait(ENDED)
            self.tab.click("[name=show-difference]")
            self.tab.value("document.activeElement.blur()")
            self.tab.screenshot(screenshot_path)


if __name__ == "__main__":
    program.main()
