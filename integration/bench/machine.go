package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// userHZ is the unit of /proc/stat: hundredths of a second on every Linux
// system that Go supports.
const userHZ = 100

// machineTime is the processor time that everything on the machine has used,
// and that its host kept from it, as Linux tells it; zero elsewhere.
func machineTime() time.Duration {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal guest guest_nice
	var ticks int64
	for i, f := range fields {
		if i == 0 || i == 4 || i == 5 || i > 8 { // the name; idle; counted already
			continue
		}
		n, _ := strconv.ParseInt(f, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHZ
}
