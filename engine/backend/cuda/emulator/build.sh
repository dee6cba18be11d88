#!/bin/sh
# Builds the emulated driver (libcuda.so.1), the kernels for the CPU and the static shim into $OUT.
#   CUDA_INCLUDE  folder with cuda.h of CUDA 12.9 (Python package nvidia-cuda-runtime-cu12)
#   NCCL_INCLUDE  folder with nccl.h, to hold the stand-in for NCCL against it; may be empty
# The kernels' entries are those of the committed PTX.
set -eu
cd "$(dirname "$0")"
OUT=${OUT:?where to}; CXX=${CXX:-g++}; CC=${CC:-gcc}
: "${CUDA_INCLUDE:?folder with cuda.h}"
mkdir -p "$OUT/obj" "$OUT/static"
CHECK=${CHECK-"-fsanitize=alignment,bounds,shift -fsanitize-undefined-trap-on-error"}   # CHECK= for speed
FLAGS="-std=c++17 -O2 -g -march=x86-64-v3 -ffp-contract=off -Wall -Wno-unknown-pragmas -fPIC $CHECK -I. -I../kernels -include simt.h"

# newer TARGET SOURCE...: is there work to do?
newer() { t=$1; shift; [ -f "$t" ] || return 0; for s in "$@"; do [ "$s" -nt "$t" ] && return 0; done; return 1; }

# every cu* function that cuda.h declares
$CC -E -x c "$CUDA_INCLUDE/cuda.h" | grep -o '\bcu[A-Z][A-Za-z0-9_]*[[:space:]]*(' | tr -d '( ' | sort -u > "$OUT/obj/declared"

if newer "$OUT/libcuda.so.1" ./*.h ./*.cc build.sh; then
  for f in simt driver; do $CXX -std=c++17 -O2 -Wall -fPIC -I"$CUDA_INCLUDE" -I. -c $f.cc -o "$OUT/obj/$f.o"; done
  nm -g --defined-only "$OUT/obj/driver.o" | awk '{print $3}' | grep '^cu[A-Z]' | sort -u > "$OUT/obj/defined"
  comm -23 "$OUT/obj/declared" "$OUT/obj/defined" |
    awk 'BEGIN{print "int cuemu_unsupported(const char*);"} {print "int " $1 "(void) { return cuemu_unsupported(\"" $1 "\"); }"}' > "$OUT/obj/stubs.c"
  $CC -O1 -fPIC -fno-builtin -c "$OUT/obj/stubs.c" -o "$OUT/obj/stubs.o"
  $CXX -shared -Wl,-soname,libcuda.so.1 -Wl,-z,defs -o "$OUT/libcuda.so.1" "$OUT/obj/driver.o" "$OUT/obj/simt.o" "$OUT/obj/stubs.o" -ldl -lpthread
fi

# stand-in for NCCL
if newer "$OUT/libnccl.so.2" nccl.cc build.sh; then
  $CXX -std=c++17 -O2 -Wall -fPIC -I"$CUDA_INCLUDE" ${NCCL_INCLUDE:+-I"$NCCL_INCLUDE"} -shared -Wl,-soname,libnccl.so.2 -Wl,-z,defs -o "$OUT/libnccl.so.2" nccl.cc -L"$OUT" -l:libcuda.so.1 -lpthread
fi

# kernels for the CPU: each file with its entries registered by name
objs=; todo=
for src in ../kernels/*.cu faulty.cu; do
  k=$(basename "$src" .cu); ptx=../kernels/ptx/$k.ptx; [ $k = faulty ] && ptx=faulty.ptx
  objs="$objs $OUT/obj/$k.k.o"
  newer "$OUT/obj/$k.k.o" "$src" "$ptx" ../kernels/*.cuh simt.h build.sh || continue
  { echo "#include \"$PWD/$src\""; sed -n 's/^\.visible \.entry \([A-Za-z0-9_]*\).*/SIMT_REGISTER(\1)/p' "$ptx"; } > "$OUT/obj/$k.reg.cc"
  todo="$todo $k"
done
# shellcheck disable=SC2086
for k in $todo; do echo "$k"; done | xargs -r -P "$(nproc)" -I{} $CXX $FLAGS -x c++ -c "$OUT/obj/{}.reg.cc" -o "$OUT/obj/{}.k.o"
# shellcheck disable=SC2086
[ -z "$todo" ] || $CXX -shared -o "$OUT/libcuemu_kernels.so" $objs -L"$OUT" -l:libcuda.so.1

# static shim: libcuda.a that opens the real library at run time
if newer "$OUT/static/libcuda.a" ../shim/shim.c ../shim/gen.sh; then sh ../shim/build.sh "$OUT"; fi
