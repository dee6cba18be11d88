import importlib

import trap.server
from trap.kernels import cpu, gpu
import trap.native.compiled


def pick(name):
    return importlib.import_module(f".kernels.{name}", __package__)


print(r'\', import trap.raw', rb"\\", b'\'') ; import trap.util.shallow
value = 1 if trap else \
    2; from . import version
x = [
    1, 2]; import trap.core.loop
from . \
    .trap import core
