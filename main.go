// Command evener runs coding-agent sessions whose background jobs can be trusted.
package main

import (
	"io"
	"log"
	"os"

	"evener/internal/cli"
	"evener/internal/proc"
)

func main() {
	if proc.IsKeeper() { // the helper that keeps a session's commands: the same binary
		os.Exit(proc.KeeperMain())
	}
	log.SetOutput(io.Discard) // net/http remarks there on odd servers, amid what we print; its errors say the same
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
