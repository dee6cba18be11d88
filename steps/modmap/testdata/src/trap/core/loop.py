def run():
	if 1:
		import trap.kernels.cpu
        # a comment with spaces
	return 1

import trap.util
