//go:build race

package cpu

// The race detector sees what plain Go reads and writes, not what assembly does, and makes it some thirty times slower:
// two small models in plain Go are what it gets.
func init() {
	testVariants = []string{"generic"}
	testShapes = []string{"built-in types", "window"}
}
