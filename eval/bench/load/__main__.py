"""Measures what a proxy before an MCP server costs. Standard library only.

    python3 eval/bench/load TARGETS.json [--rounds 5]      prints every figure of every round as JSON

Every round starts each target once, in rotated order. A target is an object:
  {"name": …, "kind": "stdio", "cmd": ["program", "{server...}"]}
  {"name": …, "kind": "http", "cmd": […], "url": "http://127.0.0.1:9001/mcp", "headers": {}, "headers_from": [command]}
"{server...}" becomes the echo server's words, "{server}" inside a word its quoted command line, "{echo}" its file.
"needs" lists commands that run beside the target. "headers_from" is a command that prints more headers as JSON.

Figures: cold = start to the answer of initialize; p10, p50 and p99 = one call at a time; rps1 and rps32 = calls a second with
1 and 32 in flight; cpu = processor time a call with 32 in flight; anonymous = memory, both of the target's processes
without the echo server. Compare figures of one run only.
"""
import argparse, json, sys, time

from clients import INIT, Http, Stdio, call_parts
from processes import anonymous_mib, cpu_ns, expand, is_server, start, stop, tree
import subprocess


def pct(v, q):
    v = sorted(v)
    return v[min(len(v) - 1, int(len(v) * q))]


def measure(t, a):
    for path, text in t.get("files", {}).items():
        open(path, "w").write(text)
    helpers = [start(expand(h), t, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
               for h in t.get("needs", [])]
    if helpers:
        time.sleep(0.4)
    c = None
    try:
        c = (Http if t["kind"] == "http" else Stdio)(t)
        init = c.ask("initialize", INIT)
        if "result" not in init:
            raise RuntimeError("initialize: %s" % init)
        cold = time.perf_counter() - c.t0
        if not t.get("skip_initialized"):
            c.notify("notifications/initialized")
        tool = t.get("tool")
        for _ in range(100):
            names = [x["name"] for x in c.ask("tools/list", {})["result"]["tools"]]
            hit = [x for x in names if x == tool or (not tool and x.endswith("echo"))]
            if hit:
                break
            time.sleep(0.05)
        else:
            raise RuntimeError("echo tool not listed: %s" % names)
        tool = hit[0]
        got = c.ask("tools/call", {"name": tool, "arguments": {"text": "hello"}})
        if "hello" not in json.dumps(got.get("result", {})):
            raise RuntimeError("first call: %s" % json.dumps(got)[:300])
        first = time.perf_counter() - c.t0
        parts = call_parts(tool, a.size)
        c.load(parts, a.warm, 1, a.seconds)
        c.load(parts, a.warm, 32, a.seconds)
        mine = [p for p in tree(c.p.pid) if not is_server(p)]
        lat, wall, e1 = c.load(parts, a.serial, 1, a.seconds)
        k0 = cpu_ns(mine)
        lat32, wall32, e2 = c.load(parts, a.burst, 32, a.seconds)
        k1 = cpu_ns(mine)
        return {"cold_ms": cold * 1e3, "first_ms": first * 1e3, "p10_us": pct(lat, .1) * 1e6,
                "p50_us": pct(lat, .5) * 1e6,
                "p99_us": pct(lat, .99) * 1e6, "rps1": len(lat) / wall, "rps32": len(lat32) / wall32,
                "p99_32_us": pct(lat32, .99) * 1e6, "cpu_us": (k1 - k0) / 1e3 / max(1, len(lat32)),
                "anonymous_mib": anonymous_mib(mine), "errors": e1 + e2, "calls": len(lat) + len(lat32)}
    finally:
        if c:
            c.close()
        for h in helpers:
            stop(h)


def run(targets, a):
    rows = {t["name"]: [] for t in targets}
    bad = {}
    for r in range(a.rounds):
        k = r % len(targets)
        for t in targets[k:] + targets[:k]:
            if bad.get(t["name"], 0) > 1:
                rows[t["name"]].append(None)
                continue
            try:
                m = measure(t, a)
                print("round %d %-28s p50 %8.0f us  rps32 %8.0f  cold %7.0f ms  errors %d"
                      % (r + 1, t["name"], m["p50_us"], m["rps32"], m["cold_ms"], m["errors"]),
                      file=sys.stderr, flush=True)
            except Exception as e:
                m = None
                bad[t["name"]] = bad.get(t["name"], 0) + 1
                print("round %d %-28s FAILED: %s: %s" % (r + 1, t["name"], type(e).__name__, str(e)[:300]),
                      file=sys.stderr, flush=True)
            rows[t["name"]].append(m)
    json.dump({"size": a.size, "rounds": a.rounds, "rows": rows}, sys.stdout, indent=1)




def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("targets", help="JSON file, see above")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--serial", type=int, default=1500, help="calls one at a time")
    p.add_argument("--burst", type=int, default=6000, help="calls with 32 in flight")
    p.add_argument("--warm", type=int, default=200)
    p.add_argument("--seconds", type=float, default=3, help="cap of each phase")
    p.add_argument("--size", type=int, default=64, help="bytes of text in each call")
    a = p.parse_args()
    run(json.load(open(a.targets)), a)


if __name__ == "__main__":
    main()
