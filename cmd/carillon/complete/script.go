package complete

import (
	"embed"
)

//go:embed scripts
var scripts embed.FS

// Shells are the shells that have a script.
const Shells = "bash,zsh,fish"

// Script returns what makes a shell ask this program.
func Script(shell string) (string, error) {
	data, err := scripts.ReadFile("scripts/carillon." + shell)
	return string(data), err
}
