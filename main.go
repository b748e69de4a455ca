// Command evener runs coding-agent sessions whose background jobs can be trusted.
package main

import (
	"io"
	"log"
	"os"

	"evener/internal/cli"
)

func main() {
	log.SetOutput(io.Discard) // net/http remarks there on odd servers, amid what we print; its errors say the same
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
