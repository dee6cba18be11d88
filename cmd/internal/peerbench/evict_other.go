//go:build !linux

package main

import "errors"

func evict(string) error {
	return errors.New("this system cannot drop one file from its cache")
}
