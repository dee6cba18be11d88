"""Writes the golden .npy files beside it: python gen.py (made with numpy 2.4.6)."""
import numpy as np

np.save("f4.npy", np.arange(6, dtype="<f4").reshape(2, 3) / 4)
np.save("f2.npy", np.array([[0.5, -2.0], [65504, 6e-8], [np.inf, 1 / 3]], dtype="<f2"))
np.save("u1.npy", np.array([0, 1, 127, 128, 255], dtype="u1"))
np.save("i4.npy", np.array([-1], dtype="<i4"))
np.save("u4.npy", np.array([[4294967295]], dtype="<u4"))
np.save("i8.npy", np.array(-9007199254740993, dtype="<i8"))
np.save("empty.npy", np.zeros((0, 4), dtype="<f4"))
np.save("fortran.npy", np.asfortranarray(np.arange(6, dtype="<f4").reshape(2, 3)))
np.save("big.npy", np.arange(6, dtype=">f4"))
