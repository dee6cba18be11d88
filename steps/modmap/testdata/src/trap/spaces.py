from trap import ns
import trap.ns.inside
from .ns import inside as i, nobody
