"""Makes python.gguf, a small file by another writer.

    python python.py python.gguf        (gguf 0.19.0, numpy 2.4.6, Python 3.11)
"""
import sys
import numpy as np, gguf

w = gguf.GGUFWriter(sys.argv[1], "llama")
w.add_uint32("x.u32", 7)
w.add_int8("x.i8", -7)
w.add_float64("x.f64", 0.1)
w.add_bool("x.bool", True)
w.add_array("x.strings", ["", "Ġa", "b"])
w.add_array("x.ints", [1, -2, 3])
w.add_array("x.nested", [[1, 2], [3]])
w.add_custom_alignment(64)
w.add_tensor("half", np.arange(6, dtype=np.float16).reshape(2, 3))
x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32)
w.add_tensor("q8", gguf.quants.quantize(x, gguf.GGMLQuantizationType.Q8_0), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
