"""Starting, ending and watching the processes that are measured."""
import os, re, shlex, signal, subprocess, sys

ECHO = os.path.join(os.path.dirname(os.path.realpath(__file__)), "echo.py")


def tree(pid):
    """pid and all its descendants."""
    kids = {}
    for e in os.listdir("/proc"):
        if e.isdigit():
            try:
                s = open(f"/proc/{e}/stat").read()
                kids.setdefault(int(s[s.rindex(")") + 2:].split()[1]), []).append(int(e))
            except (OSError, ValueError):
                pass
    todo, seen = [pid], []
    while todo:
        p = todo.pop()
        seen.append(p)
        todo += kids.get(p, [])
    return seen


def is_server(pid):
    """True for the echo server (not for a proxy that has it among its arguments)."""
    try:
        a = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
    except OSError:
        return False
    while len(a) > 2 and a[1].startswith(b"-"):
        del a[1]
    return len(a) > 2 and os.path.realpath(a[1].decode("utf8", "replace")) == ECHO \
        and a[2] in (b"stdio", b"http")


def cpu_ns(pids):
    total = 0
    for p in pids:
        try:
            for t in os.listdir(f"/proc/{p}/task"):
                total += int(open(f"/proc/{p}/task/{t}/schedstat").read().split()[0])
        except (OSError, ValueError, IndexError):
            pass
    return total


def anonymous_mib(pids):
    """Memory of their own, without the pages of the program itself, in MiB."""
    kb = 0
    for p in pids:
        try:
            m = re.search(r"RssAnon:\s+(\d+)", open(f"/proc/{p}/status").read())
            kb += int(m.group(1)) if m else 0
        except OSError:
            pass
    return kb / 1024


def start(argv, t, **kw):
    env = dict(os.environ, **{k: str(v) for k, v in t.get("env", {}).items()})
    return subprocess.Popen(argv, cwd=t.get("cwd"), env=env, start_new_session=True,
                            stderr=open(t.get("stderr", os.devnull), "ab"), **kw)


def stop(p):
    """End a process group that this script started."""
    for s, wait in ((signal.SIGTERM, 1.5), (signal.SIGKILL, 3)):
        try:
            os.killpg(p.pid, s)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            p.wait(wait)
            if s == signal.SIGKILL:
                return
        except subprocess.TimeoutExpired:
            pass


def expand(argv):
    srv, out = [sys.executable, "-S", "-E", ECHO, "stdio"], []
    for w in argv:
        if w == "{server...}":
            out += srv
        else:
            out.append(w.replace("{server}", shlex.join(srv)).replace("{echo}", ECHO)
                       .replace("{python}", sys.executable))
    return out

