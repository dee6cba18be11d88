"""A file with what makes finding functions hard.

def not_a_function():
    pass
"""
import functools

TEXT = '''
class NotAClass:
    def nor_this(self): pass
'''


@functools.cache
def plain(a, b="def x():", *, c=(1,
    2)): return a  # def comment(): pass


class Outer(dict):
    """Doc
def at_the_margin(): pass
    """

    class Inner:
        async def deep(self):
            async def deeper():
                """One."""
                return 1
            return await deeper()

    @property
    # a comment between
    @functools.lru_cache(
        maxsize=None,
    )
    def decorated(
        self,
        x: dict[str, "list[int]"] = {
            "def y(): pass": [1],
        },
    ) -> int:
        if x:
            def conditional(): return r"\\"
            return conditional
        return 'it\'s'

    if True:
        def in_a_branch(self): pass


def last(): pass
