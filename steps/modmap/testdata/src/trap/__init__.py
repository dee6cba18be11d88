"""A package of traps for a reader of imports.

import trap.nothing
"""
from . import util  # from .ghost import never
from .version import VERSION as __version__, NAME

text = """
import trap.in_a_string
""" + 'import trap.too'
