package proc

import (
	"os/exec"
	"sync"
)

// family is what this process knows of its own children. It is one for the whole
// process, however many Hosts there are: being a subreaper and being a parent
// are attributes of the process.
//
// What a dying keeper leaves falls to this process. It is told from our own
// children by not being in owned, and from a child that somebody else in this
// process started by not being in our session: everything below a keeper has left it.
var family = kin{owned: map[int]bool{}}

type kin struct {
	mu    sync.Mutex // over fork and entry, so that no child of ours is ever unknown
	owned map[int]bool
	adoption
}

// start starts a command of ours.
func (k *kin) start(cmd *exec.Cmd) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	k.owned[cmd.Process.Pid] = true
	return nil
}

// wait reaps a command of ours and says how it ended.
func (k *kin) wait(cmd *exec.Cmd) string {
	err := cmd.Wait()
	k.mu.Lock()
	delete(k.owned, cmd.Process.Pid)
	k.mu.Unlock()
	if err != nil {
		return err.Error()
	}
	return cmd.ProcessState.String()
}
