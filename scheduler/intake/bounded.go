package intake

import (
	"errors"
	"fmt"
	"io"
)

// ErrTooLong is returned for input that exceeds its limit.
var ErrTooLong = errors.New("is longer")

// ReadAll reads untrusted input of at most most bytes. It rejects longer input and never truncates it.
func ReadAll(from io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("%w than %d bytes, the most that is read", ErrTooLong, most)
	}
	return data, err
}
