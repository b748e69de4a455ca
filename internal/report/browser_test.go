package report

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// written puts a page into a file and gives its address.
func written(t *testing.T, hold func(*teller)) string {
	t.Helper()
	h, s := tell(t, hold)
	_, page := pageOf(t, h, s, s)
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// shows is the part of the time that the timeline says it shows.
func (p *tab) shows() (from, to time.Time) {
	p.t.Helper()
	label := p.text(`document.getElementById('time').getAttribute('aria-label')`)
	m := regexp.MustCompile(`^Timeline from (\S+ \S+) to (\S+ \S+) UTC$`).FindStringSubmatch(label)
	if m == nil {
		p.t.Fatalf("the timeline says %q", label)
	}
	for i, at := range []*time.Time{&from, &to} {
		var err error
		if *at, err = time.Parse("2006-01-02 15:04:05.000", m[i+1]); err != nil {
			p.t.Fatal(err)
		}
	}
	return from, to
}

func (p *tab) wide() time.Duration {
	p.t.Helper()
	from, to := p.shows()
	return to.Sub(from)
}

// box is where an element is.
func (p *tab) box(selector string) (x, y, w, h float64) {
	p.t.Helper()
	var r []float64
	p.eval(fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()`, selector), &r)
	return r[0], r[1], r[2], r[3]
}

// barAt finds a bar by what it says when the mouse is over it.
func (p *tab) barAt(says string) (x, y float64) {
	p.t.Helper()
	var at []float64
	p.eval(fmt.Sprintf(`(() => { const c = document.getElementById('canvas'), r = c.getBoundingClientRect();
		for (let y = r.top + 26; y < r.bottom; y += 4) for (let x = r.left + 76; x < r.right; x += 8) {
			c.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: y, bubbles: true}));
			if (c.closest('#time').title.includes(%q)) return [x + 2, y + 2];
		}
		return []; })()`, says), &at)
	if len(at) == 0 {
		p.t.Fatalf("no bar says %q", says)
	}
	return at[0], at[1]
}

// until waits for something to become true in the page.
func (p *tab) until(what, expression string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; p.painted() {
		var is bool
		if p.eval(expression, &is); is {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: it did not come", what)
		}
	}
}

// inSight reports whether the text that is picked is, and what it begins with.
func (p *tab) inSight() string {
	p.t.Helper()
	return p.text(`(() => { const all = document.querySelectorAll('.picked'); if (all.length !== 1) return all.length + ' are picked';
		const r = all[0].getBoundingClientRect(), v = document.getElementById('talk').getBoundingClientRect();
		return r.top < v.bottom && r.bottom > v.top && r.width > 0 ? all[0].querySelector('h3, h4').textContent : 'out of sight'; })()`)
}

func TestInBrowser(t *testing.T) {
	browserPath(t)
	url := written(t, story)
	b := browse(t)
	p := b.open(url, 1400, 900, true)
	p.painted()
	in := func(name string, do func(*testing.T)) {
		t.Run(name, func(t *testing.T) {
			p.t = t
			do(t)
		})
		p.t, b.t = t, t
	}

	in("zoomed by keys", func(t *testing.T) {
		p.eval(`document.getElementById('time').focus()`, nil)
		whole := p.wide()
		p.key("+", "+")
		if near := p.wide(); near > whole*7/10 || near < whole*6/10 {
			t.Errorf("+ shows %v of %v", near, whole)
		}
		from, _ := p.shows()
		p.key("ArrowRight", "")
		if now, _ := p.shows(); !now.After(from) {
			t.Error("an arrow does not move")
		}
		p.key("-", "-")
		p.key("-", "-")
		if far := p.wide(); far <= whole {
			t.Errorf("- shows %v of %v", far, whole)
		}
		p.key("0", "0")
		if got := p.wide(); got != whole {
			t.Errorf("0 shows %v, at first %v", got, whole)
		}
	})
	in("zoomed by mouse", func(t *testing.T) {
		whole := p.wide()
		x, y, w, _ := p.box("#canvas")
		before := p.picture()
		p.mouse("mouseWheel", x+w/4, y+200, with{"deltaX": 0, "deltaY": -400})
		p.painted()
		near := p.wide()
		if near > whole*7/10 {
			t.Errorf("the wheel shows %v of %v", near, whole)
		}
		if p.picture() == before {
			t.Error("what is drawn did not change")
		}
		from, _ := p.shows()
		p.drag(x+w/2, y+300, x+w/2+100, y+300)
		if now, _ := p.shows(); !now.Before(from) || (p.wide()-near).Abs() > 2*time.Millisecond {
			t.Errorf("a drag to the right went from %v to %v, and shows %v", from, now, p.wide())
		}
		p.clickOn("#fit")
		p.drag(x+200, y+10, x+300, y+10)
		if got := p.wide(); got > whole/5 {
			t.Errorf("a drag on the clock shows %v of %v", got, whole)
		}
		p.clickOn("#fit")
		p.clickOn("#in")
		if got := p.wide(); got >= whole {
			t.Errorf("the button shows %v of %v", got, whole)
		}
		p.clickOn("#fit")
	})
	count := func() string { return p.text(`document.getElementById('count').textContent`) }
	in("filtered", func(t *testing.T) {
		if got := count(); got != "22 bars" {
			t.Errorf("at first: %s", got)
		}
		p.clickOn("input[name=call]")
		if got := count(); got != "16 of 22 bars" {
			t.Errorf("without calls: %s", got)
		}
		p.clickOn("input[name=call]")
		p.clickOn("#failed")
		if got := count(); got != "5 of 22 bars" {
			t.Errorf("failed only: %s", got)
		}
		p.clickOn("#failed")
		p.eval(`document.getElementById('find').focus()`, nil)
		p.typed("GREP")
		if got := count(); got != "2 of 22 bars" {
			t.Errorf("with a word: %s", got)
		}
		for range 4 {
			p.call("Input.dispatchKeyEvent", with{"type": "keyDown", "key": "Backspace", "windowsVirtualKeyCode": 8}, nil)
		}
		p.painted()
		if got := count(); got != "22 bars" {
			t.Errorf("without filters: %s", got)
		}
	})
	in("a bar and its text", func(t *testing.T) {
		x, y := p.barAt("grep -r x\nexit 2")
		p.click(x, y)
		if got := p.inSight(); !strings.HasPrefix(got, "Job job_") {
			t.Errorf("a click on a job shows %q", got)
		}
		if got := p.text(`document.getElementById('about').textContent`); !strings.Contains(got, "grep -r x") || !strings.Contains(got, "exit 2") {
			t.Errorf("it is said to be %q", got)
		}
		p.eval(`document.getElementById('time').focus()`, nil)
		p.key("Enter", "\r")
		if got := p.text(`document.activeElement.className`); !strings.Contains(got, "job") {
			t.Errorf("Enter goes to %q", got)
		}
		p.key("Escape", "")
		if got := p.text(`document.activeElement.id`); got != "time" {
			t.Errorf("Escape goes to %q", got)
		}
		was := p.text(`location.hash`)
		p.key("n", "n")
		p.until("n", `location.hash !== '`+was+`'`)
		next := p.text(`location.hash`)
		p.key("p", "p")
		p.until("p", `location.hash !== '`+next+`'`)
		p.painted()
		if got := p.inSight(); !strings.HasPrefix(got, "Job job_") {
			t.Errorf("n and p lead to %q", got)
		}
		p.eval(`history.back()`, nil)
		p.until("back", `location.hash === '`+next+`'`)
	})
	in("from a notice to its cause", func(t *testing.T) {
		for _, c := range []struct{ notice, cause, shown string }{
			{"end of a job\ntold in turn 2", "job", "Job job_"}, {"of a watch", "watch", "Watch watch_"}, {"report of a delegate", "delegate", "Run of looker"},
		} {
			x, y := p.barAt(c.notice)
			p.click(x, y)
			if got := p.inSight(); !strings.HasPrefix(got, "Notice: ") {
				t.Errorf("a click on %q shows %q", c.notice, got)
			}
			at := p.text(`location.hash`)
			p.clickOn(".picked h4 span a") // in the text
			if got := p.inSight(); !strings.HasPrefix(got, c.shown) {
				t.Errorf("the link of a notice leads to %q, not to its %s", got, c.cause)
			}
			p.eval(`location.hash = `+fmt.Sprintf("%q", at), nil)
			p.until("the notice again", `document.querySelector('.picked').matches('.notice')`)
			p.clickOn("#about a") // below the bars
			if got := p.inSight(); !strings.HasPrefix(got, c.shown) {
				t.Errorf("the link below the bars leads to %q, not to its %s", got, c.cause)
			}
		}
	})
	in("as a list", func(t *testing.T) {
		p.clickOn("#failed")
		p.clickOn("#aslist")
		got := p.text(`[...document.querySelectorAll('#list li')].filter(e => e.getClientRects().length && !e.classList.contains('below')).map(e => e.className).join()`)
		if got != "job failed,call failed,delegate failed,job failed,turn failed" {
			t.Errorf("the list of what failed has %q", got)
		}
		p.clickOn("#list li.turn.failed a")
		if got := p.inSight(); !strings.HasPrefix(got, "turn 3") {
			t.Errorf("a link of the list leads to %q", got)
		}
		p.clickOn("#aslist")
		p.clickOn("#failed")
	})
	in("a group closed", func(t *testing.T) {
		p.clickOn("#all button")
		if n := p.number(`[...document.querySelectorAll('#all button')].filter(e => e.getClientRects().length).length`); n != 1 {
			t.Errorf("%v groups are seen", n)
		}
		p.clickOn("#all button")
	})
	in("hostile text", func(t *testing.T) {
		if got := p.text(`[typeof window.pwned, document.scripts.length, document.images.length, document.querySelectorAll('style').length, document.querySelectorAll('[onclick], [onerror]').length].join()`); got != "undefined,2,0,1,0" {
			t.Errorf("the page has %s", got)
		}
		if got := p.text(`document.querySelector('.e.user pre').textContent`); !strings.Contains(got, `</script><script>window.pwned=1</script>`) || !strings.Contains(got, `\u{202e}gnp.exe`) {
			t.Errorf("it is shown as %q", got)
		}
	})
	in("policy", func(t *testing.T) { // what the page may not do it cannot do
		got := p.text(`new Promise(done => { const was = []; addEventListener('securitypolicyviolation', e => was.push(e.effectiveDirective));
			document.body.append(Object.assign(document.createElement('img'), {src: 'http://127.0.0.1:9/x'}), Object.assign(document.createElement('script'), {textContent: 'window.pwned = 5'}));
			document.body.insertAdjacentHTML('beforeend', '<p id=p style="color:red" onclick="window.pwned=6">x</p>'); document.getElementById('p').click();
			fetch('http://127.0.0.1:9/y').catch(() => setTimeout(() => done(typeof window.pwned + ' ' + was.sort().join()), 200)); })`)
		if got != "undefined connect-src,img-src,script-src-attr,script-src-elem,style-src-attr" {
			t.Errorf("refused were %s", got)
		}
	})
	// The last of these made the page complain, so that is looked at in one that was left alone.
	q := b.open(url+"#i3", 1400, 900, true)
	q.painted()
	q.eval(`document.getElementById('time').focus()`, nil)
	for _, key := range []string{"+", "n", "n", "n", "-", "p", "0"} {
		q.key(key, key)
	}
	q.clickOn("#aslist")
	q.clickOn("#failed")
	q.clean(url)
	if !q.sawEverything() {
		t.Error("not all texts became elements")
	}
}

// picture is what is drawn.
func (p *tab) picture() string {
	p.t.Helper()
	return p.text(`document.getElementById('canvas').toDataURL()`)
}

// sawEverything waits until all parts of the text are elements.
func (p *tab) sawEverything() bool {
	for range 200 {
		if p.number(`document.querySelectorAll('.c > noscript').length`) == 0 {
			return true
		}
		p.painted()
	}
	return false
}

// texts are all words that the page shows, without a script of it or of the test.
func (p *tab) texts() string {
	p.t.Helper()
	var r struct {
		Documents []struct {
			Layout struct{ Text []int }
		}
		Strings []string
	}
	p.call("DOMSnapshot.captureSnapshot", with{"computedStyles": []string{}}, &r)
	var b strings.Builder
	for _, n := range r.Documents[0].Layout.Text {
		if n >= 0 {
			b.WriteString(r.Strings[n] + "\n")
		}
	}
	return b.String()
}

// laidOut is texts once all of these words are in it: a browser lays out later what it
// has not drawn yet. After a while it is what there is.
func (p *tab) laidOut(words ...string) string {
	p.t.Helper()
	for late := time.Now().Add(patience); ; {
		all := p.texts()
		missing := slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
		if !missing || time.Now().After(late) {
			return all
		}
	}
}

func TestWithoutScripts(t *testing.T) {
	browserPath(t)
	url := written(t, story)
	p := browse(t).open(url, 1200, 12_000, false) // what is far out of sight is laid out later
	told := []string{"Build it </script>", "Timeline", "07:00:03.022 watch", "grep -r x · exit 2", "delegate looker", "turn 1", "Call of shell (call_1)", "looked, nothing there", "no such file </script>", "Notice: report of a delegate", "System prompt"}
	all := p.laidOut(told...)
	for _, words := range told {
		if !strings.Contains(all, words) {
			t.Errorf("without scripts nobody reads %q", words)
		}
	}
	for _, words := range []string{"failed only", "Pick a bar", "zoom"} {
		if strings.Contains(all, words) {
			t.Errorf("without scripts %q is of no use", words)
		}
	}
	p.clean(url)
}

// In dark mode, in a narrow window and in print all of it can be read.
func TestLooks(t *testing.T) {
	browserPath(t)
	url := written(t, story)
	b := browse(t)
	p := b.open(url, 400, 800, true)
	if n := p.number(`Math.max(document.documentElement.scrollWidth, document.getElementById('talk').scrollWidth)`); n > 400 {
		t.Errorf("a window of 400 pixels has %v to show", n)
	}
	contrast := `(() => { const css = getComputedStyle(document.documentElement), rgb = n => { const v = css.getPropertyValue('--' + n).trim().slice(1), x = v.length === 3 ? [...v].map(c => c + c).join('') : v; return [0, 2, 4].map(i => parseInt(x.slice(i, i + 2), 16) / 255); };
		const lum = n => rgb(n).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4).reduce((s, c, i) => s + c * [.2126, .7152, .0722][i], 0);
		const of = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((x, y) => y - x); return (x + .05) / (y + .05); };
		const pairs = []; for (const a of ['ink', 'soft', 'mark', 'bad']) for (const b of ['back', 'panel']) pairs.push([a, b]);
		pairs.push(['ink', 'target'], ['mark', 'target'], ['soft', 'target'], ['ink', 'badback'], ['bad', 'badback'], ['soft', 'badback'], ['mark', 'badback']); for (const k of ['run', 'delegate', 'turn', 'call', 'job', 'watch', 'notice']) pairs.push([k, 'panel']);
		return pairs.filter(([a, b]) => of(a, b) < 4.5).map(([a, b]) => a + ' on ' + b + ' ' + of(a, b).toFixed(2)).join(); })()`
	if low := p.text(contrast); low != "" {
		t.Errorf("contrast below 4.5: %s", low)
	}
	light := p.picture()
	p.call("Emulation.setEmulatedMedia", with{"features": []with{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	p.painted()
	if got := p.text(`getComputedStyle(document.body).backgroundColor`); got != "rgb(21, 23, 26)" {
		t.Errorf("in dark mode the page is %s", got)
	}
	if p.picture() == light {
		t.Error("in dark mode the bars are drawn as before")
	}
	if low := p.text(contrast); low != "" {
		t.Errorf("in dark mode contrast below 4.5: %s", low)
	}
	p.call("Emulation.setEmulatedMedia", with{"media": "print", "features": []with{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	if got := p.text(`['tools', 'time', 'about', 'list', 'talk'].filter(id => document.getElementById(id).getClientRects().length).join() + ' ' + getComputedStyle(document.body).backgroundColor`); got != "list,talk rgb(255, 255, 255)" {
		t.Errorf("in print there are %s", got)
	}
	var pdf struct{ Data string }
	p.call("Page.printToPDF", with{}, &pdf)
	if raw, err := base64.StdEncoding.DecodeString(pdf.Data); err != nil || !strings.HasPrefix(string(raw), "%PDF") {
		t.Errorf("it cannot be printed: %v", err)
	}
	if n := p.number(`document.querySelectorAll('noscript').length`); n != 0 {
		t.Errorf("%v parts were not printed", n)
	}
	p.clean(url)
}

// A session of 10,000 jobs opens within a second: so long the browser's main thread is busy
// until the bars and the first words are there. Other work of the machine does not
// count for that, so the bound holds for the time of the processor.
func TestManyJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes and reads 10,000 jobs")
	}
	browserPath(t)
	url := written(t, many(10_000))
	p := browse(t).open("about:blank", 1400, 900, true)
	p.call("Performance.enable", with{"timeDomain": "threadTicks"}, nil)
	p.call("Page.navigate", with{"url": url}, nil)
	p.eval(`new Promise(done => { const look = () => performance.getEntriesByName('drawn').length > 0 && document.querySelector('.e') ? done(1) : setTimeout(look, 20); look(); })`, nil)
	busy := p.busy()
	at := p.number(`performance.getEntriesByName('drawn')[0].startTime`)
	p.until("load", `performance.getEntriesByType('navigation')[0].loadEventEnd > 0`)
	load := p.number(`performance.getEntriesByType('navigation')[0].loadEventEnd`)
	t.Logf("drawn with %.2f s of processor time, %.2f s after the beginning; all loaded with %.2f s, after %.2f s", busy, at/1000, p.busy(), load/1000)
	slow := p.slow()
	if bound := 1 * slow; busy > bound {
		t.Errorf("the page opens with %.2f s of processor time, more than %.2f s", busy, bound)
	}
	if got := p.text(`document.getElementById('count').textContent`); got != "32,001 bars" {
		t.Errorf("the timeline has %s", got)
	}
	var took []float64
	p.eval(`document.getElementById('time').focus()`, nil)
	for _, key := range []string{"+", "+", "+", "ArrowRight", "-", "0"} {
		was := p.busy()
		p.key(key, strings.TrimPrefix(key, "ArrowRight"))
		took = append(took, p.busy()-was)
	}
	slices.Sort(took)
	t.Logf("a key that zooms or moves takes %.0f ms in the middle", took[len(took)/2]*1000)
	p.eval(`location.hash = '#i31999'`, nil) // far down
	p.until("the pick", `document.querySelector('.picked') !== null`)
	p.painted()
	if got := p.inSight(); !strings.HasPrefix(got, "Notice: end of a job") {
		t.Errorf("the notice before the last one shows %q", got)
	}
	p.clean(url)
}

// slow is how many times longer this machine takes, at this moment, than an ordinary
// one that has nothing else to do. Work beside it takes caches away, which
// processor time does not leave out.
func (p *tab) slow() float64 {
	p.t.Helper()
	const ordinary = 0.15 // seconds, for the loop below: 4 steps of a processor of 3 GHz each time around, and what a browser adds
	was := p.busy()
	p.eval(`(() => { let x = 0; for (let i = 0; i < 1e8; i++) x = Math.imul(x, 31) + i | 0; return x; })()`, nil)
	took := p.busy() - was
	p.t.Logf("a loop that takes an ordinary machine %.2f s took %.2f s", ordinary, took)
	return max(1, took/ordinary)
}

// busy is how much processor time the main thread has used, in seconds.
func (p *tab) busy() float64 {
	p.t.Helper()
	var r struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	p.call("Performance.getMetrics", nil, &r)
	for _, m := range r.Metrics {
		if m.Name == "ThreadTime" {
			return m.Value
		}
	}
	raw, _ := json.Marshal(r)
	p.t.Fatalf("the browser does not say how busy it was: %s", raw)
	return 0
}
