//go:build !windows

package netreason

import "syscall"

// errnos are the errors of the operating system that people meet.
var errnos = []explained{
	{syscall.ECONNREFUSED, "connection refused"},
	{syscall.ECONNRESET, "connection reset by the host"},
	{syscall.EPIPE, "connection closed by the host while the request was sent"},
	{syscall.ECONNABORTED, "connection aborted"},
	{syscall.EHOSTUNREACH, "host unreachable"},
	{syscall.ENETUNREACH, "network unreachable"},
	{syscall.ETIMEDOUT, "connection timed out"},
	{syscall.EADDRNOTAVAIL, "no local port left"},
	{syscall.EMFILE, "too many open files in the scheduler"},
	{syscall.ENFILE, "too many open files on the scheduler's machine"},
}
