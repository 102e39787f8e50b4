package view

// Resubmitted tells of a run by hand that repeats an occurrence.
type Resubmitted struct {
	Occurrence string `json:"occurrence"` // its id
	Resubmits  string `json:"resubmits"`  // that of the occurrence that it repeats
}
