// Command asm writes the assembly kernels of engine/backend/cpu/kern with avo.
//
// Run in this folder:
//
//	go run . -out ../../../engine/backend/cpu/kern/kern_amd64.s -stubs ../../../engine/backend/cpu/kern/stubs_amd64.go -pkg kern
//	KERNELS=kv go run . -out ../../../engine/backend/cpu/kern/kv_amd64.s -stubs ../../../engine/backend/cpu/kern/kvstubs_amd64.go -pkg kern
//
// The output depends on nothing but the sources here and the versions in go.mod. The folder is a module of its own, so
// that the generator's libraries stay out of the engine's go.mod.
//
// It does not know about models, graphs or GGUF files: only about the byte layouts that kern documents.
package main

import (
	"os"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64,!purego")
	if os.Getenv("KERNELS") == "kv" {
		for _, v := range []vec{{avx512: true}, {}} {
			kvFormats(v)
		}
		Generate()
		return
	}
	// AVX-512 VNNI
	mvQ4_0()
	mvQ4_1()
	mvQ8_0()
	mvQ8_1()
	mvQ4_K()
	mvQ6_K()
	mm32("mmQ8_0", false)
	mm32("mmQ8_1", true)
	mmK("mmK32", 32)
	mmK("mmK16", 16)
	unpack()
	quant32()
	quant256()
	interleave()
	// AMX
	mma32("mmaQ4_0", false, false)
	mma32("mmaQ4_1", true, false)
	mma32("mmaQ8_0", false, true)
	mma32("mmaQ8_1", true, true)
	mmaK("mmaQ4_K", 32, false)
	mmaK("mmaK32", 32, true)
	mmaK("mmaQ6_K", 16, false)
	widen()
	place()
	// AVX2
	for _, f := range forms2 {
		mv2(f)
		mm2(f)
	}
	mmK2("mmK32", 32)
	mmK2("mmK16", 16)
	quant32avx2()
	// both
	for _, v := range []vec{{avx512: true}, {}} {
		dots16(v)
		attnQK(v, kvForm{})
		attnPV(v, kvForm{})
		softmax(v)
		norm(v)
		gates(v)
		ropes(v)
		add(v)
		toHalf(v)
	}
	keyColumn()
	spin()
	readRoof()
	Generate()
}
