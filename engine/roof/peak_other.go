//go:build !amd64 || purego

package roof

func int8Peak() (work, string) {
	w, _ := plainPeaks()
	return w, "plain Go"
}

func floatPeak() (work, string) {
	_, w := plainPeaks()
	return w, "plain Go"
}
