"""Records the calls of one package in this process, while a file named "arm" exists.

glassbox attach puts the folder of this file on PYTHONPATH, so that every Python process of an engine runs it at start.
The folder GLASSBOX_ATTACH_DIR is how the processes and glassbox talk:

  proc-PID    written here at start           this process is there
  arm         written by glassbox             record now
  armed-PID   written here                    recording has begun
  events-PID  written here when arm is gone   one line of JSON, then pairs of 64-bit little-endian words
  done-PID    written here                    events-PID is whole

An event is (monotonic ns, function << 20 | thread << 4 | kind). The function and thread tables are in the JSON line.
It does not know about engines: which package, and which functions are left out, comes from the environment.
"""

import os
import sys

_dir = os.environ.get("GLASSBOX_ATTACH_DIR", "")


def _next_sitecustomize():
    """Runs the sitecustomize that this one stands in front of."""
    import importlib.machinery

    here = os.path.dirname(os.path.abspath(__file__))
    paths = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec and spec.origin and os.path.abspath(spec.origin) != os.path.abspath(__file__):
        import importlib.util

        spec.loader.exec_module(importlib.util.module_from_spec(spec))


class _Recorder:
    CALL, RESUME, RETURN, YIELD, UNWIND = range(5)
    MOST = 8_000_000  # words; beyond it events are counted and not kept

    def __init__(self):
        import threading
        import time
        from array import array

        self.threading, self.time, self.array = threading, time, array
        self.packages = [p for p in os.environ["GLASSBOX_ATTACH_PACKAGES"].split(",") if p]
        self.skip = set(filter(None, os.environ.get("GLASSBOX_ATTACH_SKIP", "").split(",")))
        self.monitoring = getattr(sys, "monitoring", None) if not os.environ.get("GLASSBOX_ATTACH_SETPROFILE") else None
        self.on = False
        self.reset()
        if self.monitoring:
            self.use_monitoring()
        else:
            self.suspended = set()
            sys.setprofile(self.profile)
            threading.setprofile(self.profile)
        os.register_at_fork(after_in_child=self.begin)
        self.begin()

    def reset(self):
        self.events = self.array("Q")
        self.functions, self.codes, self.ids = [], [], {}
        self.threads, self.tids, self.lost = [], {}, 0

    # ---- what is kept -------------------------------------------------------------------------------------------

    def number(self, code):
        """Gives a function its number, -1 for one that is not recorded."""
        name, n = self.inside(code.co_filename), -1
        if name:
            qual = getattr(code, "co_qualname", code.co_name)
            if qual not in self.skip and code.co_name not in self.skip:
                n = len(self.functions)
                # CO_COROUTINE, CO_ASYNC_GENERATOR, CO_ITERABLE_COROUTINE
                self.functions.append([name, qual, code.co_firstlineno, 1 if code.co_flags & 0x380 else 0])
        self.codes.append(code)  # kept alive: its id stays its own
        self.ids[id(code)] = n
        return n

    def inside(self, filename):
        """Gives a file's path from its package's folder on, "" for a file of no package that is recorded."""
        for p in self.packages:
            for folder in getattr(sys.modules.get(p), "__path__", ()):
                if filename.startswith(folder + os.sep):
                    return p + filename[len(folder) :].replace(os.sep, "/")
        return ""

    def thread(self):
        ident = self.threading.get_ident()
        n = self.tids.get(ident)
        if n is None:
            n = self.tids[ident] = len(self.threads)
            self.threads.append([ident, self.threading.current_thread().name])
        return n

    def add(self, n, kind):
        if len(self.events) >= self.MOST:
            self.lost += 1
            return
        self.events.extend((self.time.monotonic_ns(), n << 20 | self.thread() << 4 | kind))

    # ---- Python 3.12 and later ----------------------------------------------------------------------------------

    def use_monitoring(self):
        m = self.monitoring
        e = m.events
        self.tool = next(t for t in (4, 3, m.PROFILER_ID, m.OPTIMIZER_ID) if m.get_tool(t) is None)
        m.use_tool_id(self.tool, "glassbox attach")
        self.set = e.PY_START | e.PY_RESUME | e.PY_RETURN | e.PY_YIELD | e.PY_UNWIND | e.PY_THROW
        for event, kind in ((e.PY_START, 0), (e.PY_RESUME, 1), (e.PY_RETURN, 2), (e.PY_YIELD, 3), (e.PY_UNWIND, 4), (e.PY_THROW, 1)):
            local = event not in (e.PY_UNWIND, e.PY_THROW)  # only local events can be switched off at a place
            m.register_callback(self.tool, event, self.callback(kind, local))

    def callback(self, kind, local):
        off = self.monitoring.DISABLE if local else None

        def event(code, *_):
            n = self.ids.get(id(code))
            if n is None:
                n = self.number(code)
            if n < 0:
                return off
            if self.on:
                self.add(n, kind)

        return event

    # ---- before Python 3.12 -------------------------------------------------------------------------------------

    def profile(self, frame, event, _):
        if not self.on or event[0] == "c" and event != "call":
            return
        n = self.ids.get(id(frame.f_code))
        if n is None:
            n = self.number(frame.f_code)
        if n < 0:
            return
        if event == "call":
            kind = self.CALL
            if id(frame) in self.suspended:
                self.suspended.discard(id(frame))
                kind = self.RESUME
            self.add(n, kind)
        elif event == "return":
            kind = self.RETURN
            if frame.f_code.co_flags & 0x3A0:  # a generator or coroutine: is this its end?
                if frame.f_code.co_code[frame.f_lasti] in self.yields():
                    kind = self.YIELD
                    self.suspended.add(id(frame))
            self.add(n, kind)

    def yields(self):
        if not hasattr(self, "yield_ops"):
            import opcode

            self.yield_ops = {opcode.opmap[o] for o in ("YIELD_VALUE", "YIELD_FROM", "SEND") if o in opcode.opmap}
        return self.yield_ops

    # ---- the talk with glassbox ---------------------------------------------------------------------------------

    def begin(self):
        """Starts to listen; also in the child of a fork, where no other thread lives on."""
        self.on = False
        self.reset()
        self.pid = os.getpid()
        self.say("proc")
        self.threading.Thread(target=self.listen, name="glassbox-attach", daemon=True).start()

    def say(self, what, data=b""):
        path = os.path.join(_dir, "%s-%d" % (what, self.pid))
        with open(path + ".new", "wb") as f:
            f.write(data)
        os.replace(path + ".new", path)

    def listen(self):
        arm = os.path.join(_dir, "arm")
        while os.path.isdir(_dir):
            if os.path.exists(arm) != self.on:
                self.stop() if self.on else self.start()
            self.time.sleep(0.01)

    def start(self):
        self.clocks = [self.time.monotonic_ns(), self.time.time_ns()]
        self.on = True
        if self.monitoring:
            self.monitoring.set_events(self.tool, self.set)
        self.say("armed")

    def stop(self):
        self.on = False
        if self.monitoring:
            self.monitoring.set_events(self.tool, 0)
        import json
        import multiprocessing

        events = self.events
        if sys.byteorder != "little":
            events.byteswap()
        head = {
            "pid": self.pid,
            "ppid": os.getppid(),
            "name": multiprocessing.current_process().name,
            "title": self.title(),
            "argv": sys.argv[:8],
            "python": sys.version.split()[0],
            "method": "sys.monitoring" if self.monitoring else "sys.setprofile",
            "clocks": self.clocks,
            "functions": self.functions,
            "threads": self.threads,
            "main": self.threading.main_thread().ident,
            "lost": self.lost,
            "events": len(events) // 2,
        }
        self.say("events", json.dumps(head).encode() + b"\n" + events.tobytes())
        self.reset()
        self.say("done")

    def title(self):
        """The name that the process gave itself."""
        try:
            with open("/proc/self/cmdline", "rb") as f:
                return f.read(200).split(b"\0")[0].decode("utf-8", "replace")
        except OSError:
            return ""


if _dir and os.environ.get("GLASSBOX_ATTACH_PACKAGES"):
    try:
        glassbox_recorder = _Recorder()
    except Exception as e:  # the engine must start whatever happens here
        sys.stderr.write("glassbox attach: this process is not recorded: %r\n" % (e,))
_next_sitecustomize()
