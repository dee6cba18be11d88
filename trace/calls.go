package trace

// CallKind is what a call to a device's driver asks for.
type CallKind uint8

// Kinds of call.
const (
	CallLaunch   CallKind = iota // run a kernel
	CallUpload                   // copy to the device
	CallDownload                 // copy from the device
	CallCopy                     // copy between devices
	CallSum                      // sum up over devices, by a library
	CallWait                     // the host waits until the device has done what was asked before
)

// String returns the kind's name in a recording.
func (k CallKind) String() string {
	return [...]string{"launch", "upload", "download", "copy", "sum", "wait"}[k]
}

// Call is one call to the driver of a device in a timed pass, as the host saw it, and the work on the device that it asked
// for, as the device's own clock saw that.
type Call struct {
	Kind    CallKind
	API     string   // the driver's function
	Kernel  KernelID // of a launch
	Op      int32    // index into the ops of the pass; -1: of none
	Start   int64    // ns, clock of Now: when the host called
	Dur     int64    // ns until the call returned
	Began   int64    // ns, clock of Now: when the device began; 0 with Took
	Took    int64    // ns on the device; 0: it has no time of its own there
	Bytes   int64    // of a copy
	Grid    [3]int32 // of a launch: blocks
	Threads int32    // of a launch: of a block
}

// Clocks tells how well a device's clock was tied to the host's in a pass: both were read together at its start and at its end,
// and times between follow by the straight line.
type Clocks struct {
	Residual int64 // ns by which a time of the device may be off: half of the longer of the two readings
	Drift    int64 // ns that the host's clock counted more between the two readings than the device's did
}
