package cli

import (
	"evener/internal/config"
)

var configCommand = command{
	name: "config", args: "[--json] [flags]", summary: "every effective setting and where it came from",
	help: "Takes the flags of a run, so that their effect can be seen.",
}

func init() { configCommand.run = runConfig }

func runConfig(e *env, args []string) int {
	fs := e.flags(configCommand)
	set := config.AddFlags(fs)
	e.dirFlag(fs)
	asJSON := fs.Bool("json", false, "as one JSON object")
	rest, status, ok := e.parse(configCommand, fs, args)
	if !ok {
		return status
	}
	if len(rest) > 0 {
		return e.fail(exitUsage, "", "config takes no arguments")
	}
	c, err := e.load(set)
	if err != nil {
		return e.failLoad(err)
	}
	if err := c.Print(e.out, *asJSON); err != nil {
		return e.fail(exitState, "", "%v", err)
	}
	return exitOK
}
