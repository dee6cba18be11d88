from trap.core import types
