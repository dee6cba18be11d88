#!/usr/bin/env python
from __future__ import annotations
import typing as t
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core import types
elif NAME: from trap.util import text
else:
    import trap.util.paths
    if t.TYPE_CHECKING and __debug__: import trap.kernels.gpu

if not TYPE_CHECKING:
    from .core.engine import Engine
else:
    from .core.fake import Engine

if not (t . TYPE_CHECKING) or Engine: import trap.main
elif Engine: from .only import checked
else: from .only import checked_too

try: import trap.fast
except ImportError: from . import slow as fast
else:
    import trap.fast2
finally: pass

lazily = lambda: __import__("trap.by_name")


class Server(Engine):
    from .core import mixin as m; x: int = {1: 2}[1]; import trap.util.text

    async def serve(self, *, a: "import x" = {"from": 1}, b=lambda: 0) -> None:
        """from .doc import string"""
        from ..trap.core.loop import (Loop
                                      , run as r)
        def inner():
            if TYPE_CHECKING: from .core import types
            for n in f"{a['from']!r:>{len('}')}}{{": import trap.util.deep
            while n: from . import util ; break
            return (yield from n)
        with open(f'''{
            "import trap.no"
        }''') as f: import trap.util.shallow
        match n:
            case {"x": [1, *_]} if n: from .util import shallow
            case _:
                import trap.kernels
        raise ValueError from None

    def	tabs(self):
	    from.util.text import(strip)
    @property
    def last(self): import trap.last, trap.very.last as q; return q
match __name__:
    case _: from .util import *
