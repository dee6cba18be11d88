from ..util import text
from .. import util as u
from ...outside import nothing


class Engine:
    def run(self):
        from .loop import run
        return run
