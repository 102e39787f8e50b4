package netreason

import "golang.org/x/sys/windows"

// errnos explains the common socket errors of Windows. Windows never returns those that package syscall names as
// in Unix.
var errnos = []explained{
	{windows.WSAECONNREFUSED, "connection refused"},
	{windows.WSAECONNRESET, "connection reset by the host"},
	{windows.WSAECONNABORTED, "connection aborted"},
	{windows.WSAEHOSTUNREACH, "host unreachable"},
	{windows.WSAENETUNREACH, "network unreachable"},
	{windows.WSAETIMEDOUT, "connection timed out"},
	{windows.WSAEADDRNOTAVAIL, "no local port left"},
	{windows.WSAEMFILE, "too many open files in the scheduler"},
}
