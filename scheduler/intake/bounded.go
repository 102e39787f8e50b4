package intake

import (
	"fmt"
	"io"
)

// ReadAll reads what comes from outside: at most so many bytes. More is an error, and not cut off silently.
func ReadAll(from io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("is longer than %d bytes, the most that is read", most)
	}
	return data, err
}
