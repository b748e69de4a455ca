package journal

import "iter"

// readMem reads a journal in memory as Read does on disk.
func readMem(fs filesystem, path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, err := fs.open(path, 0, 0)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer f.close()
		s, err := openScanner(f, path, Pos{})
		for err == nil {
			var e *Entry
			if e, err = s.nextLive(); e == nil {
				break
			}
			if !yield(*e, nil) {
				return
			}
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}
