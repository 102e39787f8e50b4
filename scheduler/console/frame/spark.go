package frame

import "fmt"

// Spark is a small chart of bars, 60 wide and 16 high, for the template "spark".
type Spark struct {
	Text  string            // describes it
	Paths map[string]string // of the bars, by class
}

// Bar adds a bar to Paths.
func (s *Spark) Bar(class string, x, wide, high int) {
	s.Paths[class] += fmt.Sprintf("M%d 16h%dv-%dh-%dz", x, wide, high, wide)
}
