from trap import util
