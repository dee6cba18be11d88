#!/bin/bash
# Compiles the kernels to PTX for compute capability 8.0, which the driver compiles on for whatever device it finds, and
# writes what ptxas says of registers, spills and shared memory on sm_80, sm_89 and sm_90.
#   ptx.sh NVCC PTXDIR REPORT [SOURCE...]      default: every .cu file here
# nvcc 13 writes a PTX version that older drivers refuse; nothing newer than 7.8 is used, so the line says 7.8 (CUDA 11.8
# on), and ptxas is asked whether it agrees.
set -euo pipefail
NVCC=$1; DIR=$2; REPORT=$3; shift 3; cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- *.cu
mkdir -p "$DIR"
export NVCC DIR
one() {
  set -euo pipefail
  k=$(basename "$1" .cu); out=$DIR/$k.ptx
  "$NVCC" -std=c++17 -O3 -I. -arch=compute_80 -ptx "$1" -o "$out.tmp"
  # The compiler's name and build number are no content, nor is the hash of a path in names of what is internal.
  sed -e 's/^\.version .*/.version 7.8/' -e '/^\/\//d' -e '/^$/d' -e 's/_INTERNAL_[0-9a-f]\{8\}_/_INTERNAL_00000000_/g' "$out.tmp" > "$out"; rm "$out.tmp"
  for a in 80 89 90; do
    echo "== $k sm_$a"; "$(dirname "$NVCC")/ptxas" -v -arch=sm_$a "$out" -o /dev/null 2>&1
  done > "$out.report" || { cat "$out.report" >&2; exit 1; }
}
export -f one
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'one {}'
: > "$REPORT"
for s in "$@"; do k=$(basename "$s" .cu); cat "$DIR/$k.ptx.report" >> "$REPORT"; rm "$DIR/$k.ptx.report"; done
