#!/bin/bash
# Checks and measures the CUDA backend on one GPU, in at most five minutes and without a network: make gpu-check.
#   gpu-check.sh OUT [-small]
# Needs bin/gpucheck and bin/cuda.test (make gpu-check-build builds them, on any machine); builds them where Go and the
# headers are at hand and they are not. Writes into OUT: gpu-check.json, gpu-check.txt, a recording
# of each format (gpu-check-*.gbx), kernels.txt, nvidia-smi.txt.
set -euo pipefail
OUT=$1; shift
cd "$(dirname "$0")/../../.."
mkdir -p "$OUT"
small=0; [ "${1:-}" = -small ] && small=1
if [ ! -x bin/gpucheck ] || [ ! -x bin/cuda.test ]; then
  command -v go >/dev/null || { echo "gpu-check: bin/gpucheck and bin/cuda.test are not there, nor is Go: run make gpu-check-build elsewhere and bring bin/ along" >&2; exit 1; }
  make gpu-check-build
fi
if [ $small = 0 ]; then
  if command -v nvidia-smi >/dev/null; then nvidia-smi -q > "$OUT/nvidia-smi.txt" 2>&1 || true
  else echo "nvidia-smi is not there" > "$OUT/nvidia-smi.txt"; fi
fi
failed=0
start=$SECONDS
echo "== each kernel against plain arithmetic, tiny models against the references"
run='^(TestKernel|TestTinyModelsOfEvery|TestTimes|TestHead|TestEvery|TestCopied|TestWhatTap|TestTheQuantised)'
# With a second device, the sums over both; where the built-in model's file is at hand, all its reference prompts.
if command -v nvidia-smi >/dev/null && [ "$(nvidia-smi -L 2>/dev/null | wc -l)" -gt 1 ]; then run="${run%)}|TestTinyModelsSayTheSame|TestSums)"; fi
if ls engine/builtin/*.gguf >/dev/null 2>&1; then run="${run%)}|TestBuiltinModel)"; export GOLDEN=all; fi
[ $small = 0 ] || { run='^TestCopied'; unset GOLDEN; } # make cuda runs the rest by itself
timeout 90 bin/cuda.test -test.run "$run" -test.v > "$OUT/kernels.txt" 2>&1 || { failed=1; grep -E '^ *--- FAIL|^panic|Error|found' "$OUT/kernels.txt" | head -20; }
echo "   $(grep -c '^--- PASS' "$OUT/kernels.txt" || true) tests passed, $(grep -c '^--- FAIL' "$OUT/kernels.txt" || true) failed, $((SECONDS - start)) s"
echo "== models of random weights"
limit=200; [ $small = 0 ] || limit=900 # the emulated driver, on a busy machine
timeout $limit bin/gpucheck -out "$OUT" "$@" || failed=1
echo "== $((SECONDS - start)) s in all; results in $OUT"
exit $failed
