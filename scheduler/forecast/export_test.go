package forecast

// Walked is how many minutes of jobs were worked out.
func (f *Forecast) Walked() int { return f.scratch.steps }
