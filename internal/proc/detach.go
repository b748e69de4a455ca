package proc

const detachArg = "detach"

func detachMain(args []string) int { return 1 }
