package listen

import "syscall"

// acknowledge enables immediate acknowledgements on a socket. The system can disable them at any time, so call
// it after each read.
func acknowledge(socket uintptr) {
	_ = syscall.SetsockoptInt(int(socket), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
}
