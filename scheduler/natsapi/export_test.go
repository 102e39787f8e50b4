package natsapi

import "time"

// AtLeisure has n overwrite all specs that may hold secrets, however long the
// disk takes for it.
func AtLeisure(n *Ingest) *Ingest {
	n.eraser.most, n.eraser.credit = time.Hour, time.Hour
	return n
}
