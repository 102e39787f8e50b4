package main

import (
	"os"
	"strconv"
	"strings"
)

// resident returns the resident memory of the process and its peak, in bytes,
// as Linux tells them; zero elsewhere.
func resident() (now, peak int64) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB\n")), 10, 64)
		switch name {
		case "VmRSS":
			now = kb << 10
		case "VmHWM":
			peak = kb << 10
		}
	}
	return now, peak
}

// forgetPeak makes the peak begin anew, where the system allows it.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// memory is the resident memory as figures.
func memory() figures {
	now, peak := resident()
	return figures{{"rss_mb", float64(now) / 1e6}, {"rss_peak_mb", float64(peak) / 1e6}}
}
