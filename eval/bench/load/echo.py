"""The echo server of the benches: one tool, on standard input and output or as streamable HTTP.

    echo.py stdio
    echo.py http PORT        on 127.0.0.1

Standard library only, so that what is measured is what stands in front of it.
"""
import json, os, re, socket, sys

VERSIONS = "2025-06-18"
TOOL = {"name": "echo", "description": "Returns its text.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}},
                        "required": ["text"]}}

def answer(msg):
    """Bytes to send back for one parsed message, or None for a notification."""
    mid = msg.get("id")
    if mid is None or "method" not in msg:
        return None
    m = msg["method"]
    if m == "tools/call":
        text = msg["params"].get("arguments", {}).get("text", "")
        r = {"content": [{"type": "text", "text": text}], "isError": False}
    elif m == "initialize":
        v = msg.get("params", {}).get("protocolVersion", VERSIONS)
        r = {"protocolVersion": v, "capabilities": {"tools": {}},
             "serverInfo": {"name": "bench-echo", "version": "1"}}
    elif m == "tools/list":
        r = {"tools": [TOOL]}
    elif m == "ping":
        r = {}
    else:
        return json.dumps({"jsonrpc": "2.0", "id": mid,
                           "error": {"code": -32601, "message": "no such method"}}).encode()
    return json.dumps({"jsonrpc": "2.0", "id": mid, "result": r}).encode()


def serve_stdio():
    buf, rd, wr = b"", sys.stdin.fileno(), sys.stdout.fileno()
    while True:
        chunk = os.read(rd, 65536)
        if not chunk:
            return
        buf += chunk
        *lines, buf = buf.split(b"\n")
        out = [a for a in (answer(json.loads(x)) for x in lines if x.strip()) if a]
        if out:
            data = b"\n".join(out) + b"\n"
            while data:
                data = data[os.write(wr, data):]


class HttpEcho:
    def eof_received(self): pass
    def connection_lost(self, exc): pass
    def pause_writing(self): pass
    def resume_writing(self): pass

    def connection_made(self, t):
        self.t, self.buf = t, b""
        t.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data):
        self.buf += data
        while True:
            end = self.buf.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.buf[:end].lower()
            n = re.search(rb"content-length:\s*(\d+)", head)
            chunked = b"transfer-encoding: chunked" in head
            start = end + 4
            if chunked:
                body, stop = dechunk(self.buf, start)
                if stop is None:
                    return
            else:
                stop = start + (int(n.group(1)) if n else 0)
                if len(self.buf) < stop:
                    return
                body = self.buf[start:stop]
            self.buf = self.buf[stop:]
            if not head.startswith(b"post "):
                code = b"405 Method Not Allowed" if head.startswith(b"get ") else b"200 OK"
                self.t.write(b"HTTP/1.1 " + code + b"\r\nContent-Length: 0\r\n\r\n")
                continue
            a = answer(json.loads(body))
            if a is None:
                self.t.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            else:
                self.t.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             b"Content-Length: %d\r\n\r\n" % len(a) + a)


async def serve_http(port):
    import asyncio
    srv = await asyncio.get_running_loop().create_server(HttpEcho, "127.0.0.1", port)
    await srv.serve_forever()


def dechunk(buf, pos):
    """Decode a chunked body at pos; (body, end) or (None, None) if not whole."""
    out = []
    while True:
        e = buf.find(b"\r\n", pos)
        if e < 0:
            return None, None
        n = int(buf[pos:e].split(b";")[0], 16)
        pos = e + 2
        if n == 0:
            e = buf.find(b"\r\n", pos)
            return (b"".join(out), e + 2) if e >= 0 else (None, None)
        if len(buf) < pos + n + 2:
            return None, None
        out.append(buf[pos:pos + n])
        pos += n + 2


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        serve_stdio()
    else:
        import asyncio
        asyncio.run(serve_http(int(sys.argv[2])))
