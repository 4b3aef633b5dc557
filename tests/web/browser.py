"""A headless Chromium, driven over the pipe of its DevTools protocol: no driver, no package, no port."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
        "ArrowDown": 40, "Space": 32}


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    raise AssertionError("no chromium on the path; Debian has it in the package chromium")


class Navigated(Exception):
    """The page was replaced by the next one while the browser worked out an answer about it."""

    MESSAGES = ("Inspected target navigated or closed", "Execution context was destroyed", "Cannot find context",
                "Not attached to an active page")


class Browser:
    """The process; a context manager."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="samebit-browser-")
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        command = [find_chromium(), "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.folder}",
                   "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb",
                   # Root and most containers cannot make its sandbox, and it opens our own page only.
                   "--no-sandbox"]

        def wire():
            # Chromium reads from 3 and writes to 4. Out of the way first: an end may be 3 or 4 already.
            reading, writing = os.dup(to_read), os.dup(to_write)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(command, preexec_fn=wire, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": self.folder})
        os.close(to_read)
        os.close(to_write)
        self.lock = threading.Condition()
        self.answers, self.events, self.next_id, self.ended = {}, [], 1, False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        rest = b""
        while True:
            try:
                more = os.read(self.read_end, 1 << 16)
            except OSError:
                more = b""
            if not more:
                break
            *messages, rest = (rest + more).split(b"\0")
            with self.lock:
                for message in map(json.loads, messages):
                    if "id" in message:
                        self.answers[message["id"]] = message
                    else:
                        self.events.append(message)
                self.lock.notify_all()
        with self.lock:
            self.ended = True
            self.lock.notify_all()

    def call(self, method, session=None, **parameters):
        with self.lock:
            number, self.next_id = self.next_id, self.next_id + 1
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        with self.lock:
            done = self.lock.wait_for(lambda: number in self.answers or self.ended, 60)
            assert done and number in self.answers, f"{method}: the browser did not answer"
            answer = self.answers.pop(number)
        if answer.get("error", {}).get("message", "").startswith(Navigated.MESSAGES):
            raise Navigated(answer["error"]["message"])
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(30)
        self.reader.join(10)
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)


class Tab:
    """One page in a context of its own: no cookies, no storage, no cache of another."""

    def __init__(self, browser, width=1200, height=900):
        self.browser = browser
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def close(self):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def events(self, method):
        with self.browser.lock:
            return [event["params"] for event in self.browser.events
                    if event.get("sessionId") == self.session and event["method"] == method]

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def reload(self):
        self.call("Page.reload")

    def value(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, expression, seconds=60):
        """Waits until the expression is true, and gives its value. A page that goes away meanwhile is asked after again."""
        end = time.monotonic() + seconds
        while True:
            try:
                found = self.value(expression)
            except Navigated:
                found = None
            if found:
                return found
            assert time.monotonic() < end, f"not in {seconds} s: {expression}; the page says: {self.text('body')[:2000]}"
            time.sleep(0.05)

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def point_of(self, selector):
        return self.value(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: 'center'}});
            const box = element.getClientRects()[0];
            return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")

    def hover(self, selector):
        x, y = self.point_of(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        x, y = self.point_of(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key, times=1):
        for _ in range(times):
            text = {"Enter": "\r", "Space": " "}.get(key)
            code = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
            self.call("Input.dispatchKeyEvent", type="keyDown", **code, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def fill(self, selector, text):
        """Types into a field, over what it holds."""
        self.value(f"document.querySelector({json.dumps(selector)}).select()")
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        if text == "":
            self.call("Input.dispatchKeyEvent", type="keyDown", key="Delete", code="Delete", windowsVirtualKeyCode=46)
            self.call("Input.dispatchKeyEvent", type="keyUp", key="Delete", code="Delete", windowsVirtualKeyCode=46)
        else:
            self.call("Input.insertText", text=text)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        height = self.value("Math.ceil(document.documentElement.getBoundingClientRect().height)")
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": self.value("innerWidth"), "height": height, "scale": 1})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """What a developer would see in red: exceptions, console errors, failed loads, broken rules."""
        said = [event["exceptionDetails"].get("text", "") + str(event["exceptionDetails"].get("exception", ""))
                for event in self.events("Runtime.exceptionThrown")]
        said += [str(event["args"]) for event in self.events("Runtime.consoleAPICalled")
                 if event["type"] in ("error", "warning", "assert")]
        said += [event["entry"]["text"] for event in self.events("Log.entryAdded") if event["entry"]["level"] != "verbose"]
        return said

    def asked_urls(self):
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]
