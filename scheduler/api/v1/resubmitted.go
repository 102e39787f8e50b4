package v1

// Resubmitted is a manual run that repeats an occurrence.
type Resubmitted struct {
	Occurrence string `json:"occurrence"` // id of the new occurrence
	Resubmits  string `json:"resubmits"`  // id of the repeated occurrence
}
