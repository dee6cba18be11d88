import_ = importance = fromage = 1
from_x: int = importance if import_ else fromage
from .engine import Engine
