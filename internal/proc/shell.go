package proc

import "os"

// Shell is the program that runs commands in this process's environment: bash,
// or else sh.
func Shell() string { return findShell(os.Environ()) }
