package main

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
	raftwal "github.com/hashicorp/raft-wal"
	_ "github.com/mattn/go-sqlite3" // the driver sqlite3
	twal "github.com/tidwall/wal"
	bolt "go.etcd.io/bbolt"
	ewal "go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
)

// A peer stores one line durably a call, from any goroutine.
type peer struct {
	put   func(line []byte) error
	close func() error
}

var peers = map[string]func(dir string) (peer, error){
	"bbolt.Update": func(dir string) (peer, error) { return openBolt(dir, (*bolt.DB).Update) },
	"bbolt.Batch":  func(dir string) (peer, error) { return openBolt(dir, (*bolt.DB).Batch) },
	"etcd":         openEtcd,
	"tidwall":      openTidwall,
	"raft-wal":     openRaftWAL,
	"SQLite":       openSQLite,
}

// peerSide lets n callers store lines at a peer.
func peerSide(name string, l []byte, n int) side {
	return side{name, func(e *env) (values, error) {
		dir, err := e.sub("peer")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		p, err := peers[name](dir)
		if err != nil {
			return nil, err
		}
		rate, _, err := callers(n, e.time, func() error { return p.put(l) })
		if cerr := p.close(); err == nil {
			err = cerr
		}
		return values{name: rate}, err
	}}
}

func openBolt(dir string, do func(*bolt.DB, func(*bolt.Tx) error) error) (peer, error) {
	db, err := bolt.Open(filepath.Join(dir, "b.db"), 0o600, nil)
	if err != nil {
		return peer{}, err
	}
	bucket := []byte("j")
	if err := db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket(bucket); return err }); err != nil {
		return peer{}, err
	}
	var seq atomic.Uint64
	return peer{func(line []byte) error {
		return do(db, func(tx *bolt.Tx) error {
			var key [8]byte
			binary.BigEndian.PutUint64(key[:], seq.Add(1))
			b := tx.Bucket(bucket)
			b.FillPercent = 0.95 // keys only grow
			return b.Put(key[:], line)
		})
	}, db.Close}, nil
}

func openEtcd(dir string) (peer, error) {
	w, err := ewal.Create(zap.NewNop(), filepath.Join(dir, "wal"), []byte("m"))
	if err != nil {
		return peer{}, err
	}
	var mu sync.Mutex
	term, index := uint64(1), uint64(0)
	return peer{func(line []byte) error {
		mu.Lock()
		defer mu.Unlock()
		index++
		at := index
		return w.Save(&raftpb.HardState{}, []*raftpb.Entry{{Term: &term, Index: &at, Data: line}})
	}, w.Close}, nil
}

func openTidwall(dir string) (peer, error) {
	w, err := twal.Open(filepath.Join(dir, "wal"), nil)
	if err != nil {
		return peer{}, err
	}
	var mu sync.Mutex
	index := uint64(0)
	return peer{func(line []byte) error {
		mu.Lock()
		defer mu.Unlock()
		index++
		return w.Write(index, line)
	}, w.Close}, nil
}

func openRaftWAL(dir string) (peer, error) {
	w, err := raftwal.Open(dir)
	if err != nil {
		return peer{}, err
	}
	var mu sync.Mutex
	index := uint64(0)
	return peer{func(line []byte) error {
		mu.Lock()
		defer mu.Unlock()
		index++
		return w.StoreLogs([]*raft.Log{{Index: index, Term: 1, Data: line}})
	}, w.Close}, nil
}

func openSQLite(dir string) (peer, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "s.db")+"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=60000")
	if err != nil {
		return peer{}, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("create table j(seq integer primary key, line blob)"); err != nil {
		if strings.Contains(err.Error(), "CGO_ENABLED=0") {
			err = skip("go-sqlite3 needs cgo and a C compiler")
		}
		return peer{}, err
	}
	insert, err := db.Prepare("insert into j(line) values(?)")
	if err != nil {
		return peer{}, err
	}
	return peer{func(line []byte) error { _, err := insert.Exec(line); return err }, db.Close}, nil
}
