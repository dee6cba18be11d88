from . import text, paths
