package intake

import (
	"fmt"
	"io"
)

// ReadAll reads untrusted input of at most the given number of bytes. Longer input is an error; ReadAll never truncates it.
func ReadAll(from io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("is longer than %d bytes, the most that is read", most)
	}
	return data, err
}
