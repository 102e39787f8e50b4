package instant

import "github.com/carillon-sched/carillon/scheduler/document"

// ReadDST reads the members gap and overlap.
func ReadDST(o *document.Object) DST {
	var d DST
	if name, ok := o.Enum("gap", gapNames[1:]...); ok {
		d.Gap = Gap(indexOf(gapNames, name))
	}
	if name, ok := o.Enum("overlap", overlapNames[1:]...); ok {
		d.Overlap = Overlap(indexOf(overlapNames, name))
	}
	return d
}

// indexOf returns the index of a name that is in the list, 0 if it is not.
func indexOf(names []string, name string) uint8 {
	for i := range names {
		if names[i] == name {
			return uint8(i)
		}
	}
	return 0
}
