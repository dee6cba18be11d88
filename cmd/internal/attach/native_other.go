//go:build !linux

package attach

import (
	"context"
	"errors"
)

type native struct{}

func newNative() recorder { return native{} }

func (native) prepare(*Options, *command) error {
	return errors.New("engines of machine code are recorded by Linux's uprobes: run this on Linux, as root")
}
func (native) arm(context.Context, *process) error    { return nil }
func (native) stop(context.Context) ([]thread, error) { return nil, nil }
func (native) describe() (string, []string)           { return "", nil }
func (native) close()                                 {}
