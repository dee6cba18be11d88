import multiprocessing
import sys

from fakeengine import api, core

if __name__ == "__main__":
    port, base = int(sys.argv[1]), "tcp://127.0.0.1:%s" % sys.argv[2]
    if len(sys.argv) > 3 and sys.argv[3] == "die":
        sys.exit("fakeengine: wanted a model, found none")
    child = multiprocessing.get_context(sys.argv[4] if len(sys.argv) > 4 else "spawn").Process(target=core.main, args=(base,), name="Core", daemon=True)
    child.start()
    api.main(port, base)
