package listen

import "syscall"

// acknowledge has the system acknowledge at once what was read from a socket. It lasts until the system changes its mind, so it is
// due after each read.
func acknowledge(socket uintptr) {
	_ = syscall.SetsockoptInt(int(socket), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
}
