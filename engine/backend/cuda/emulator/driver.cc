// driver.cc: the CUDA driver API, emulated. Exported as libcuda.so.1. One translation unit in parts: the objects of all
// parts know each other, and nothing but the API is visible outside.
// Functions that are not defined here are in the generated stubs (build.sh), which log their name and return
// CUDA_ERROR_NOT_SUPPORTED.
#include "state.h"
#include "device.h"
#include "stream.h"
#include "memory.h"
#include "module.h"
#include "graph.h"
#include "launch.h"
