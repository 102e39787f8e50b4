package v1

// Cancellation lists the canceled occurrences.
type Cancellation struct {
	Occurrences []string `json:"canceled"`         // their ids
	DryRun      bool     `json:"dryRun,omitempty"` // nothing was canceled
}
