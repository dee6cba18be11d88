import trap.util, \
    trap.core as core, os . path
NAME = "x"; VERSION = 1; from .core import (  # the kernel
    engine as e,
    missing,
)
