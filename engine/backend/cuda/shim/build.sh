#!/bin/sh
# Builds the static shim libcuda.a into $1/static: what the binary links in place of the driver.
#   CUDA_INCLUDE  folder with cuda.h of CUDA 12.9 (Python package nvidia-cuda-runtime-cu12)
set -eu
OUT=$1; cd "$(dirname "$0")"; CC=${CC:-gcc}
mkdir -p "$OUT/obj" "$OUT/static"
$CC -E -x c "$CUDA_INCLUDE/cuda.h" | grep -o '\bcu[A-Z][A-Za-z0-9_]*[[:space:]]*(' | tr -d '( ' | sort -u > "$OUT/obj/declared"
sh gen.sh "$OUT/obj/declared" > "$OUT/obj/shim_table.S"
$CC -fPIC -c "$OUT/obj/shim_table.S" -o "$OUT/obj/shim_table.o"
$CC -O2 -Wall -fPIC -I"$CUDA_INCLUDE" -c shim.c -o "$OUT/obj/shim.o"
rm -f "$OUT/static/libcuda.a"; ar rcs "$OUT/static/libcuda.a" "$OUT/obj/shim.o" "$OUT/obj/shim_table.o"
