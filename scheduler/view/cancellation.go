package view

// Cancellation says which occurrences were canceled.
type Cancellation struct {
	Occurrences []string `json:"canceled"`         // their ids
	DryRun      bool     `json:"dryRun,omitempty"` // a dry run: none was canceled
}
