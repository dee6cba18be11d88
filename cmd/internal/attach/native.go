package attach

import (
	"context"
	"errors"
)

// native records machine code.
type native struct{}

func newNative() *native { return &native{} }

func (*native) prepare(*Options, *command) error       { return errors.New("not yet") }
func (*native) arm(context.Context, *process) error    { return nil }
func (*native) stop(context.Context) ([]thread, error) { return nil, nil }
func (*native) describe() (string, []string)           { return "", nil }
func (*native) close()                                 {}
