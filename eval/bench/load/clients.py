"""The load clients: raw JSON-RPC over pipes and over keep-alive HTTP/1.1 connections."""
import json, os, re, selectors, socket, subprocess, time
from urllib.parse import urlsplit

from echo import VERSIONS, dechunk
from processes import expand, start, stop

ID = re.compile(rb'"id"\s*:\s*"?(\d+)"?')
INIT = {"protocolVersion": VERSIONS, "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"}}


def req(i, method, params=None):
    d = {"jsonrpc": "2.0", "id": i, "method": method}
    if params is not None:
        d["params"] = params
    return json.dumps(d).encode()


def call_parts(tool, size):
    s = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "tools/call",
                    "params": {"name": tool, "arguments": {"text": "x" * size}}}).encode()
    a, b = s.split(b'"id": 0', 1)
    return a + b'"id": ', b


class Stdio:
    def __init__(self, t):
        self.t0 = time.perf_counter()
        self.p = start(expand(t["cmd"]), t, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.w, self.r, self.buf, self.n = self.p.stdin.fileno(), self.p.stdout.fileno(), b"", 0
        self.sel = selectors.DefaultSelector()
        self.sel.register(self.r, selectors.EVENT_READ)
        self.pids_root = self.p.pid

    def send(self, data):
        data += b"\n"
        while data:
            data = data[os.write(self.w, data):]

    def lines(self, limit=20):
        if not self.sel.select(limit):
            raise TimeoutError("no answer")
        c = os.read(self.r, 1 << 18)
        if not c:
            raise EOFError("target closed its output")
        self.buf += c
        *got, self.buf = self.buf.split(b"\n")
        return got

    def ask(self, method, params=None, limit=40):
        self.n += 1
        self.send(req(self.n, method, params))
        end = time.perf_counter() + limit
        while time.perf_counter() < end:
            for x in self.lines(limit):
                try:
                    m = json.loads(x)
                except ValueError:
                    continue
                if m.get("id") in (self.n, str(self.n)) and "method" not in m:
                    return m
        raise TimeoutError(method)

    def notify(self, method):
        self.send(json.dumps({"jsonrpc": "2.0", "method": method}).encode())

    def load(self, parts, n, window, seconds):
        """n calls with at most `window` in flight; list of seconds each, wall."""
        a, b = parts
        sent, done, lat, errs = {}, 0, [], 0
        stop_at, begin = time.perf_counter() + seconds, time.perf_counter()
        issued = 0
        while done < n:
            out = []
            while issued < n and len(sent) < window and time.perf_counter() < stop_at:
                self.n += 1
                issued += 1
                out.append(a + str(self.n).encode() + b)
                sent[self.n] = time.perf_counter()
            if out:
                self.send(b"\n".join(out))
            if not sent:
                break
            for x in self.lines():
                m = ID.search(x)
                s = sent.pop(int(m.group(1)), None) if m else None
                if s is not None:
                    lat.append(time.perf_counter() - s)
                    done += 1
                    errs += b'"error"' in x or b'"isError":true' in x or b'"isError": true' in x
        return lat, time.perf_counter() - begin, errs

    def close(self):
        try:
            self.p.stdin.close()
        except OSError:
            pass
        try:
            self.p.wait(1)
        except subprocess.TimeoutExpired:
            pass
        stop(self.p)


class Conn:
    """One keep-alive HTTP/1.1 connection."""
    def __init__(self, c):
        u = c.u
        self.s = socket.create_connection((u.hostname, u.port), 20)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.c, self.buf = c, b""

    def send(self, body):
        self.s.sendall(self.c.head() + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def feed(self):
        """Read once; (status, headers, body) when the answer is whole, else None."""
        d = self.s.recv(1 << 18)
        if not d:
            raise EOFError("connection closed")
        self.buf += d
        end = self.buf.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = self.buf[:end]
        low = head.lower()
        status = int(head[9:12])
        if b"transfer-encoding: chunked" in low:
            body, stop_ = dechunk(self.buf, end + 4)
            if stop_ is None:
                return None
        else:
            m = re.search(rb"content-length:\s*(\d+)", low)
            stop_ = end + 4 + (int(m.group(1)) if m else 0)
            if len(self.buf) < stop_:
                return None
            body = self.buf[end + 4:stop_]
        self.buf = self.buf[stop_:]
        return status, head, body

    def roundtrip(self, body):
        self.send(body)
        while True:
            r = self.feed()
            if r:
                return r


class Http:
    def __init__(self, t):
        self.t0, self.t, self.u, self.sid, self.n = time.perf_counter(), t, urlsplit(t["url"]), None, 0
        self.headers = dict(t.get("headers", {}))
        if "headers_from" in t:
            self.headers.update(json.loads(subprocess.check_output(t["headers_from"])))
        self.p = start(expand(t["cmd"]), t, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        end = self.t0 + float(t.get("ready", 60))
        while True:
            if self.p.poll() is not None and not t.get("daemon"):
                raise EOFError("target exited with %s" % self.p.returncode)
            try:
                socket.create_connection((self.u.hostname, self.u.port), 0.2).close()
                break
            except OSError:
                if time.perf_counter() > end:
                    raise
                time.sleep(0.002)
        self.pool = [Conn(self)]

    def head(self):
        h = {"Host": self.u.netloc, "Content-Type": "application/json",
             "Accept": "application/json, text/event-stream"}
        h.update(self.headers)
        if self.sid:
            h["Mcp-Session-Id"] = self.sid
            h["MCP-Protocol-Version"] = VERSIONS
        path = self.u.path + ("?" + self.u.query if self.u.query else "")
        return ("POST %s HTTP/1.1\r\n" % (path or "/") +
                "".join("%s: %s\r\n" % kv for kv in h.items())).encode()

    @staticmethod
    def payload(body):
        for line in body.split(b"\n"):
            if line.startswith(b"data:") and b'"id"' in line:
                return json.loads(line[5:])
        return json.loads(body)

    def ask(self, method, params=None, limit=40):
        err = None
        for _ in range(200):
            self.n += 1
            try:
                st, head, body = self.pool[0].roundtrip(req(self.n, method, params))
                if st == 200:
                    m = re.search(rb"(?im)^mcp-session-id:\s*(\S+)", head)
                    if m:
                        self.sid = m.group(1).decode()
                    return self.payload(body)
                err = "HTTP %d %s" % (st, body[:200])
            except (EOFError, OSError, ValueError) as e:
                err = repr(e)
            if time.perf_counter() - self.t0 > limit:
                break
            time.sleep(0.02)
            self.pool[0] = Conn(self)
        raise TimeoutError("%s: %s" % (method, err))

    def notify(self, method):
        self.pool[0].roundtrip(json.dumps({"jsonrpc": "2.0", "method": method}).encode())

    def load(self, parts, n, window, seconds):
        a, b = parts
        while len(self.pool) < window:
            self.pool.append(Conn(self))
        sel, lat, errs, issued = selectors.DefaultSelector(), [], 0, 0
        begin = time.perf_counter()
        stop_at, started = begin + seconds, {}

        def fire(c):
            nonlocal issued
            if issued >= n or time.perf_counter() > stop_at:
                sel.unregister(c.s)
                started.pop(c, None)
                return
            issued += 1
            self.n += 1
            started[c] = time.perf_counter()
            c.send(a + str(self.n).encode() + b)

        for c in self.pool[:window]:
            sel.register(c.s, selectors.EVENT_READ, c)
            fire(c)
        while started:
            ev = sel.select(20)
            if not ev:
                raise TimeoutError("no answer")
            for k, _ in ev:
                r = k.data.feed()
                if r:
                    lat.append(time.perf_counter() - started[k.data])
                    errs += r[0] != 200 or b'"error"' in r[2] or b'"isError":true' in r[2]
                    fire(k.data)
        return lat, time.perf_counter() - begin, errs

    def close(self):
        for c in self.pool:
            c.s.close()
        stop(self.p)

