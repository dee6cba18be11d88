//go:build cuda

package driver

/*
#cgo linux LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

// As nccl.h of NCCL 2.x declares them (the Python package nvidia-nccl-cu12 has it; emulator/nccl.cc is compiled against it).
typedef struct { char internal[128]; } ncclUniqueId;
typedef struct ncclComm* ncclComm_t;
enum { gbNcclFloat32 = 7, gbNcclSum = 0 };

static struct {
  int (*uniqueId)(ncclUniqueId*);
  int (*init)(ncclComm_t*, int, ncclUniqueId, int);
  int (*allReduce)(const void*, void*, size_t, int, int, ncclComm_t, void*);
  int (*destroy)(ncclComm_t);
  const char* (*text)(int);
} nccl;

static const char* nccl_open(const char* name) {
  static char why[600];
  void* h = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!h) { snprintf(why, sizeof why, "%s", dlerror()); return why; }
  struct { const char* name; void** to; } want[] = {{"ncclGetUniqueId", (void**)&nccl.uniqueId}, {"ncclCommInitRank", (void**)&nccl.init},
    {"ncclAllReduce", (void**)&nccl.allReduce}, {"ncclCommDestroy", (void**)&nccl.destroy}, {"ncclGetErrorString", (void**)&nccl.text}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++)
    if (!(*want[i].to = dlsym(h, want[i].name))) { snprintf(why, sizeof why, "%s has no %s", name, want[i].name); return why; }
  return 0;
}
static int nccl_id(ncclUniqueId* id) { return nccl.uniqueId(id); }
static int nccl_init(ncclComm_t* c, int n, ncclUniqueId* id, int rank) { return nccl.init(c, n, *id, rank); }
static int nccl_sum(unsigned long long p, size_t n, ncclComm_t c, void* stream) {
  return nccl.allReduce((const void*)p, (void*)p, n, gbNcclFloat32, gbNcclSum, c, stream);
}
static int nccl_destroy(ncclComm_t c) { return nccl.destroy(c); }
static const char* nccl_text(int r) { return nccl.text(r); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// NCCLLibrary is the environment variable that names the library to use instead of libnccl.so.2.
const NCCLLibrary = "GLASSBOX_NCCL"

// LoadNCCL opens NVIDIA's library of collectives (NCCL), once. It says why that cannot be had.
var LoadNCCL = sync.OnceValue(func() error {
	name := os.Getenv(NCCLLibrary)
	if name == "" {
		name = "libnccl.so.2"
	}
	if why := C.nccl_open(C.CString(name)); why != nil {
		return errors.New("no NCCL: " + C.GoString(why))
	}
	return nil
})

func ncclCode(what string, r C.int) error {
	if r == 0 {
		return nil
	}
	return fmt.Errorf("NCCL: %s: error %d: %s", what, int(r), C.GoString(C.nccl_text(r)))
}

// NCCLID names a group of devices to be: one of its members makes it and tells the others.
type NCCLID [128]byte

// NewNCCLID makes an id. LoadNCCL comes first.
func NewNCCLID() (id NCCLID, err error) {
	var c C.ncclUniqueId
	err = ncclCode("ncclGetUniqueId", C.nccl_id(&c))
	for i := range id {
		id[i] = byte(c.internal[i])
	}
	return id, err
}

// Comm is a device's end of a group (a communicator).
type Comm struct{ c C.ncclComm_t }

// JoinNCCL joins the group as one of size; all must call it, each on its device's thread, and it returns when all have.
func JoinNCCL(id NCCLID, rank, size int) (*Comm, error) {
	var c C.ncclUniqueId
	for i := range id {
		c.internal[i] = C.char(id[i])
	}
	var comm C.ncclComm_t
	if err := ncclCode("ncclCommInitRank", C.nccl_init(&comm, C.int(size), &c, C.int(rank))); err != nil {
		return nil, err
	}
	return &Comm{comm}, nil
}

// AllReduce puts into the stream: n floats at p become the sum over all members' n floats.
func (c *Comm) AllReduce(st Stream, p Ptr, n int) error {
	return ncclCode("ncclAllReduce", C.nccl_sum(C.ulonglong(p), C.size_t(n), c.c, streamPtr(st)))
}

// Close leaves the group.
func (c *Comm) Close() error { return ncclCode("ncclCommDestroy", C.nccl_destroy(c.c)) }
