"""A server that speaks OpenAI's interface without a model, and can be made to do wrong: what `samebit replay --url` must find.

Tokens follow from prompt, seed, sample and position alone, so that a sound one is exact in every cell. A Mock takes wishes:
each is one way in which real servers go wrong, or one thing that some of them do not tell.
"""

import hashlib
import http.server
import json
import random
import socket
import struct
import threading
import time

VOCABULARY = 1000


def number(*parts):
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4], "big")


def next_float(value):
    """The binary32 number after value."""
    return struct.unpack("f", struct.pack("I", struct.unpack("I", struct.pack("f", value))[0] + 1))[0]


class Mock:
    """A context manager; `url` is where it listens. Wishes are keyword arguments, listed below with their defaults."""

    def __init__(self, **wishes):
        self.flip_at = wishes.pop("flip_at", None)          # position of the token that is another one, when ...
        self.flip_when = wishes.pop("flip_when", "never")   # concurrent, hot, streamed, many, call_8, restarted
        self.bits_only = wishes.pop("bits_only", False)     # the token stays, the last bit of its log-probability moves
        self.drop_seed = wishes.pop("drop_seed", False)     # seeds are taken and ignored
        self.refuse = wishes.pop("refuse", ())              # fields that are answered with 400
        self.tell = wishes.pop("tell", "ids")               # ids, content_ids, bytes, text
        self.metrics = wishes.pop("metrics", True)
        self.serial = wishes.pop("serial", False)           # one request after the other
        self.fingerprint_moves = wishes.pop("fingerprint_moves", False)  # while two requests are in work
        self.cut_streams = wishes.pop("cut_streams", False)
        self.stall_after = wishes.pop("stall_after", None)  # answers; then nothing comes any more
        self.status_when_busy = wishes.pop("status_when_busy", None)
        self.cut_answers = wishes.pop("cut_answers", False)  # finish_reason length before the length, when busy
        self.store = wishes.pop("store", False)             # keeps answers, and is slow the first time
        self.models = wishes.pop("models", ["mock"])
        self.key = wishes.pop("key", None)
        self.generate = wishes.pop("generate", False)       # speaks SGLang's /generate
        self.owner = wishes.pop("owner", "sglang" if self.generate else "somebody")
        self.token_seconds = wishes.pop("token_seconds", 0.002)
        assert not wishes, wishes
        self.lock = threading.Lock()
        self.turn = threading.Lock()
        self.in_work = {}        # number of a request -> the most that were in work with it
        self.hot = set()         # numbers of those in work whose temperature is above 1
        self.count = 0
        self.calls = {}
        self.kept = {}
        self.epoch = 0
        self.sockets = set()

    def __enter__(self):
        mock = self

        class Handler(_Handler):
            owner = mock

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # clients that leave are part of the tests

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.break_connections()
        self.server.server_close()
        self.thread.join()

    def break_connections(self):
        with self.lock:
            sockets = list(self.sockets)
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def restart(self):
        self.epoch += 1
        self.break_connections()

    # What is answered.

    def flips(self, asked, most_in_work):
        return {
            "never": False,
            "concurrent": most_in_work > 1,
            "hot": asked["heard_hot"],
            "streamed": asked["stream"],
            "many": asked["n"] > 1,
            "call_8": asked["call"] >= 8,
            "restarted": self.epoch > 0,
        }[self.flip_when]

    def token(self, asked, sample, position):
        """(id, [(id, logprob)] best first) at a position."""
        top = [(number(asked["prompt"], position, rank) % VOCABULARY, -0.25 - 0.5 * rank) for rank in range(5)]
        if asked["temperature"] == 0:
            return top[0][0], top
        seed = random.random() if self.drop_seed else asked["seed"]
        return top[number(asked["prompt"], seed, sample, position) % 5][0], top

    def choice(self, asked, sample, flip):
        tokens = [self.token(asked, sample, position) for position in range(asked["tokens"])]
        if flip and self.flip_at is not None and self.flip_at < len(tokens):
            chosen, top = tokens[self.flip_at]
            moved = [(one, next_float(logprob)) for one, logprob in top]
            tokens[self.flip_at] = (chosen if self.bits_only else (chosen + 1) % VOCABULARY, moved)
        return tokens

    def logprobs(self, tokens):
        def entry(one, logprob, top=None):
            text = f" {one}"
            found = {"token": text, "logprob": logprob, "bytes": list(text.encode())}
            if self.tell == "content_ids":
                found["id"] = one
            if top is not None:
                found["top_logprobs"] = [entry(*other) for other in top]
            return found
        if self.tell == "text":
            return None
        return {"content": [entry(one, dict(top).get(one, -9.0), top) for one, top in tokens]}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner = None

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.owner.lock:
            self.owner.sockets.add(self.connection)

    def finish(self):
        with self.owner.lock:
            self.owner.sockets.discard(self.connection)
        super().finish()

    def log_message(self, *_):
        pass

    def send(self, status, value, headers=()):
        body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def allowed(self):
        mock = self.owner
        if mock.key is None or self.headers.get("Authorization") == f"Bearer {mock.key}":
            return True
        self.send(401, {"error": {"message": "a key is needed"}})
        return False

    def do_GET(self):
        mock = self.owner
        if not self.allowed():
            return
        if self.path == "/v1/models":
            self.send(200, {"data": [{"id": name, "object": "model", "owned_by": mock.owner} for name in mock.models]})
        elif self.path == "/metrics" and mock.metrics:
            with mock.lock:
                running = min(len(mock.in_work), 1 if mock.serial else 999)
            self.send(200, f'# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{{model_name="m"}} {running}.0\n')
        elif self.path == "/restart":
            mock.restart()
        else:
            self.send(404, {"error": {"message": "no such path"}})

    def do_POST(self):
        mock = self.owner
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return
        if self.path != ("/generate" if mock.generate else "/v1/chat/completions"):
            self.send(404, {"error": {"message": "no such path"}})
            return
        for field in mock.refuse:
            if field in body:
                self.send(400, {"error": {"message": f"unknown field '{field}'"}})
                return
        with mock.lock:
            mock.count += 1
            this = mock.count
            hot = self.asked_of(body)["temperature"] > 1
            mock.in_work[this] = 0
            for other in mock.in_work:
                mock.in_work[other] = max(mock.in_work[other], len(mock.in_work))
            if hot:
                mock.hot.add(this)
        try:
            self.answer(body, this)
        finally:
            self.end_work(this)

    def end_work(self, this):
        """Returns the most requests that were in work with this one. Before its answer's last byte is sent: a client that
        asks again as soon as it has it is alone. Asked twice, it returns None."""
        mock = self.owner
        with mock.lock:
            mock.hot.discard(this)
            return mock.in_work.pop(this, None)

    def asked_of(self, body):
        sampling = body["sampling_params"] if self.owner.generate else body
        prompt = body["text"] if self.owner.generate else json.dumps(body["messages"])
        return {"prompt": prompt, "temperature": sampling["temperature"], "n": sampling.get("n", 1),
                "seed": sampling.get("sampling_seed" if self.owner.generate else "seed"), "stream": body.get("stream", False),
                "tokens": sampling["max_new_tokens" if self.owner.generate else "max_tokens"]}

    def answer(self, body, this):
        mock = self.owner
        asked = self.asked_of(body)
        if mock.stall_after is not None and this > mock.stall_after:
            time.sleep(30)
        kept = json.dumps([body, "x"], sort_keys=True)
        with mock.lock:
            mock.calls[kept] = asked["call"] = mock.calls.get(kept, 0) + 1
        asked["heard_hot"] = False
        if mock.serial:
            mock.turn.acquire()
        try:
            # The head of a stream goes out with its first token, as from a real server.
            for position in range(asked["tokens"]):
                if position == 1 and asked["stream"]:
                    self.begin_stream(body, asked)
                if not (mock.store and asked["call"] > 1):
                    time.sleep(mock.token_seconds * (20 if mock.store else 1))
                asked["heard_hot"] = asked["heard_hot"] or (bool(mock.hot) and asked["temperature"] <= 1)
            most = self.end_work(this)
            if mock.status_when_busy and most > 1 and not asked["stream"]:
                self.send(mock.status_when_busy, {"error": {"message": "too much at once"}}, [("Retry-After", "3")])
                return
            flip = mock.flips(asked, most)
            choices = [mock.choice(asked, sample, flip) for sample in range(asked["n"])]
            if mock.cut_answers and most > 1:
                choices = [tokens[:-1] for tokens in choices]
            fingerprint = "fp_other" if mock.fingerprint_moves and most > 1 else "fp_one"
            if mock.generate:
                self.send_generated(asked, choices)
            else:
                self.send_choices(body, asked, choices, fingerprint)
        finally:
            if mock.serial:
                mock.turn.release()

    def usage(self, asked, choices):
        mock = self.owner
        cached = len(asked["prompt"]) // 8 if mock.store and asked["call"] > 1 else 0
        return {"prompt_tokens": len(asked["prompt"]) // 4, "completion_tokens": sum(map(len, choices)),
                "prompt_tokens_details": {"cached_tokens": cached}}

    def parts(self, body, tokens):
        mock = self.owner
        part = {"logprobs": mock.logprobs(tokens) if body.get("logprobs") else None}
        if body.get("return_token_ids") and mock.tell == "ids":
            part["token_ids"] = [one for one, _ in tokens]
        return part

    def chunk(self, value):
        data = value if isinstance(value, str) else json.dumps(value)
        event = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")

    def begin_stream(self, body, asked):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if not self.owner.generate:
            for sample in range(asked["n"]):
                self.chunk({"choices": [{"index": sample, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]})

    def send_choices(self, body, asked, choices, fingerprint):
        texts = ["".join(f" {one}" for one, _ in tokens) for tokens in choices]
        if not asked["stream"]:
            self.send(200, {"system_fingerprint": fingerprint, "usage": self.usage(asked, choices), "choices": [
                {"index": index, "message": {"role": "assistant", "content": texts[index]}, "finish_reason": "length",
                 **self.parts(body, tokens)} for index, tokens in enumerate(choices)]})
            return
        if asked["tokens"] == 1:
            self.begin_stream(body, asked)
        for index, tokens in enumerate(choices):
            for token in tokens:
                self.chunk({"system_fingerprint": fingerprint, "choices": [
                    {"index": index, "delta": {"content": f" {token[0]}"}, "finish_reason": None, **self.parts(body, [token])}]})
        if self.owner.cut_streams:
            self.close_connection = True
            self.wfile.write(b"0\r\n\r\n")
            return
        for index in range(len(choices)):
            self.chunk({"system_fingerprint": fingerprint, "choices": [{"index": index, "delta": {}, "finish_reason": "length"}]})
        self.chunk({"system_fingerprint": fingerprint, "choices": [], "usage": self.usage(asked, choices)})
        self.chunk("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def send_generated(self, asked, choices):
        def one(index, tokens):
            return {"index": index, "text": "".join(f" {t}" for t, _ in tokens), "output_ids": [t for t, _ in tokens], "meta_info": {
                "finish_reason": {"type": "length", "length": asked["tokens"]}, "prompt_tokens": len(asked["prompt"]) // 4,
                "completion_tokens": len(tokens), "cached_tokens": 0,
                "output_token_logprobs": [[dict(top).get(t, -9.0), t, None] for t, top in tokens],
                "output_top_logprobs": [[[logprob, t, None] for t, logprob in top] for _, top in tokens]}}
        if not asked["stream"]:
            answers = [one(*item) for item in enumerate(choices)]
            self.send(200, answers if asked["n"] > 1 else answers[0])
            return
        if asked["tokens"] == 1:
            self.begin_stream({}, asked)
        for index, tokens in enumerate(choices):
            for end in range(1, len(tokens) + 1):
                self.chunk(one(index, tokens[:end]))
        self.chunk("[DONE]")
        self.wfile.write(b"0\r\n\r\n")
