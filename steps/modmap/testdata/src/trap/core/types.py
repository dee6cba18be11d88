from ..util import paths
