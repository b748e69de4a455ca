package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait for the browser. It is no measure of anything.
const patience = 60 * time.Second

// browserPath finds a Chromium. Where the tests must all run, one that is not there is a fault.
func browserPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("there is no Chromium; apt-get install chromium-headless-shell")
	}
	t.Skip("there is no Chromium")
	return ""
}

// browser is a headless Chromium that is driven over a pair of pipes: a JSON message
// each, ended by a zero byte.
type browser struct {
	t      *testing.T
	to     *os.File
	mu     sync.Mutex
	sent   int
	waits  map[int]chan message
	events []message
	woken  chan struct{} // closed and made anew with each event
	gone   chan struct{}
}

type message struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// browse starts a browser that has no network to speak of and ends with the test.
func browse(t *testing.T) *browser {
	t.Helper()
	path := browserPath(t)
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile := t.TempDir()
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--no-first-run", "--hide-scrollbars", "--proxy-server=127.0.0.1:9", "--remote-debugging-pipe", "--user-data-dir="+filepath.Join(profile, "profile"))
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.ExtraFiles = []*os.File{inR, outW} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	b := &browser{t: t, to: inW, waits: map[int]chan message{}, woken: make(chan struct{}), gone: make(chan struct{})}
	go b.read(outR)
	t.Cleanup(func() {
		b.send("", "Browser.close", nil)
		select {
		case <-b.gone:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait() // however it ended
		inW.Close()
		<-b.gone
		outR.Close()
	})
	return b
}

func (b *browser) read(from *os.File) {
	defer close(b.gone)
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if m.ID != 0 {
			b.waits[m.ID] <- m
			delete(b.waits, m.ID)
		} else {
			b.events = append(b.events, m)
			close(b.woken)
			b.woken = make(chan struct{})
		}
		b.mu.Unlock()
	}
}

func (b *browser) send(session, method string, params any) chan message {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent++
	answer := make(chan message, 1)
	b.waits[b.sent] = answer
	if params == nil {
		params = struct{}{}
	}
	raw, _ := json.Marshal(map[string]any{"id": b.sent, "sessionId": session, "method": method, "params": params})
	if session == "" {
		raw, _ = json.Marshal(map[string]any{"id": b.sent, "method": method, "params": params})
	}
	_, _ = b.to.Write(append(raw, 0)) // a browser that is gone is seen by who waits
	return answer
}

// tab is one page.
type tab struct {
	*browser
	session string
}

// call asks the browser for something and reads the answer into out.
func (p *tab) call(method string, params, out any) {
	p.t.Helper()
	select {
	case m := <-p.send(p.session, method, params):
		if m.Error != nil {
			p.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if out != nil {
			if err := json.Unmarshal(m.Result, out); err != nil {
				p.t.Fatalf("%s: %v", method, err)
			}
		}
	case <-p.gone:
		p.t.Fatalf("%s: the browser is gone", method)
	case <-time.After(patience):
		p.t.Fatalf("%s: no answer", method)
	}
}

type with map[string]any

// open shows a page in a tab of its own, of some size, with scripts or without.
func (b *browser) open(url string, width, height int, scripts bool) *tab {
	b.t.Helper()
	p := &tab{browser: b}
	var made struct{ TargetID, SessionID string }
	p.call("Target.createTarget", with{"url": "about:blank"}, &made)
	target := made.TargetID
	p.call("Target.attachToTarget", with{"targetId": target, "flatten": true}, &made)
	p.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.call(domain+".enable", nil, nil)
	}
	p.call("Emulation.setDeviceMetricsOverride", with{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	if !scripts {
		p.call("Emulation.setScriptExecutionDisabled", with{"value": true}, nil)
	}
	p.call("Page.navigate", with{"url": url}, nil)
	p.event("Page.loadEventFired")
	return p
}

// event waits for one of the tab's, which may have been there already.
func (p *tab) event(method string) {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		woken, found := p.woken, false
		for _, m := range p.events {
			found = found || m.Session == p.session && m.Method == method
		}
		p.mu.Unlock()
		if found {
			return
		}
		select {
		case <-woken:
		case <-p.gone:
			p.t.Fatalf("%s: the browser is gone", method)
		case <-deadline:
			p.t.Fatalf("%s: it did not come", method)
		}
	}
}

// eval is the value of an expression in the page. It is asked for by the debugger,
// which no policy of the page binds.
func (p *tab) eval(expression string, out any) {
	p.t.Helper()
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	p.call("Runtime.evaluate", with{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.Exception != nil {
		p.t.Fatalf("%s: %s %s", expression, r.Exception.Text, r.Exception.Exception.Description)
	}
	if out != nil {
		if err := json.Unmarshal(r.Result.Value, out); err != nil {
			p.t.Fatalf("%s: %s: %v", expression, r.Result.Value, err)
		}
	}
}

// painted waits until what was asked for is drawn.
func (p *tab) painted() {
	p.t.Helper()
	p.eval(`new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0, 1)))))`, nil)
}

func (p *tab) text(expression string) (s string) {
	p.t.Helper()
	p.eval(expression, &s)
	return s
}

func (p *tab) number(expression string) (n float64) {
	p.t.Helper()
	p.eval(expression, &n)
	return n
}

func (p *tab) key(key string, text string) {
	p.t.Helper()
	down := with{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
	if text != "" {
		down["text"] = text
	}
	p.call("Input.dispatchKeyEvent", down, nil)
	p.call("Input.dispatchKeyEvent", with{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]}, nil)
	p.painted()
}

// codes are what keys without a character are to a browser.
var codes = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}

func (p *tab) typed(s string) {
	p.t.Helper()
	for _, r := range s {
		p.key(string(r), string(r))
	}
}

func (p *tab) mouse(kind string, x, y float64, more with) {
	p.t.Helper()
	args := with{"type": kind, "x": x, "y": y}
	for k, v := range more {
		args[k] = v
	}
	p.call("Input.dispatchMouseEvent", args, nil)
}

func (p *tab) click(x, y float64) {
	p.t.Helper()
	p.mouse("mouseMoved", x, y, nil)
	p.mouse("mousePressed", x, y, with{"button": "left", "clickCount": 1})
	p.mouse("mouseReleased", x, y, with{"button": "left", "clickCount": 1})
	p.painted()
}

func (p *tab) drag(x0, y0, x1, y1 float64) {
	p.t.Helper()
	p.mouse("mouseMoved", x0, y0, nil)
	p.mouse("mousePressed", x0, y0, with{"button": "left", "clickCount": 1})
	p.mouse("mouseMoved", (x0+x1)/2, (y0+y1)/2, with{"button": "left", "buttons": 1})
	p.mouse("mouseMoved", x1, y1, with{"button": "left", "buttons": 1})
	p.mouse("mouseReleased", x1, y1, with{"button": "left", "clickCount": 1})
	p.painted()
}

// clickOn clicks on the middle of an element, which must be in sight.
func (p *tab) clickOn(selector string) {
	p.t.Helper()
	var at []float64
	p.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'nearest'}); const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector), &at)
	p.click(at[0], at[1])
}

// clean fails the test when the page complained, or asked for anything but itself.
func (p *tab) clean(url string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := 0
	for _, m := range p.events {
		if m.Session != p.session {
			continue
		}
		switch m.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening", "Page.windowOpen", "Network.webSocketCreated":
			p.t.Errorf("the page: %s %s", m.Method, m.Params)
		case "Network.requestWillBeSent":
			var r struct {
				Request struct{ URL string }
			}
			if err := json.Unmarshal(m.Params, &r); err != nil {
				p.t.Fatal(err)
			}
			if got, _, _ := strings.Cut(r.Request.URL, "#"); got != url {
				p.t.Errorf("the page asked for %.200s", r.Request.URL)
			}
			asked++
		}
	}
	if asked == 0 {
		p.t.Error("not even the page itself was seen to be asked for")
	}
}
