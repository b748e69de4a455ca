package report

import (
	"strings"
	"testing"

	"evener/internal/session"
)

const asleep = `document.querySelectorAll('#talk noscript').length`

// before opens a page whose browser has run a script before those of the page.
func (b *browser) before(script, url string) *tab {
	b.t.Helper()
	p := b.open("about:blank", 1400, 900, true)
	p.call("Page.addScriptToEvaluateOnNewDocument", with{"source": script}, nil)
	p.call("Page.navigate", with{"url": url}, nil)
	p.until("load", `location.protocol === 'file:' && performance.getEntriesByType('navigation')[0].loadEventEnd > 0`)
	return p
}

// What is far out of sight becomes elements in idle time, and only then or where it
// is looked at; before the page is printed all of it does.
func TestWaking(t *testing.T) {
	browserPath(t)
	url := written(t, many(150))
	b := browse(t)
	p := b.before(`{ const idle = window.requestIdleCallback.bind(window), held = []; let open = false;
		window.requestIdleCallback = f => open ? idle(f) : held.push(f); window.nowIdle = () => { open = true; held.forEach(f => idle(f)); }; }`, url)
	p.until("the first words", `document.querySelector('.e') !== null`)
	p.painted()
	before := p.number(asleep)
	if before < 2 {
		t.Errorf("%v parts wait while nothing is idle", before)
	}
	p.eval(`nowIdle()`, nil)
	p.until("the rest, in idle time", asleep+` === 0 && document.getElementById('talk').scrollTop === 0`)
	if n := p.number(`document.querySelectorAll('#list noscript').length`); n != 1 {
		t.Errorf("the list, which nobody looks at, has %v parts that wait", n)
	}

	p = b.before(`window.requestIdleCallback = () => 0`, url)
	if n := p.number(asleep); n < 2 {
		t.Errorf("%v parts wait before it is printed", n)
	}
	var pdf struct{ Data string }
	p.call("Page.printToPDF", with{}, &pdf)
	if n := p.number(`document.querySelectorAll('noscript').length`); n != 0 {
		t.Errorf("%v parts were not printed", n)
	}
	if n := p.number(`document.querySelectorAll('#list li').length`); n < 150 {
		t.Errorf("the printed list has %v rows", n)
	}
	p.clean(url)
}

// A word that is longer than the window wraps, and of a text above the bound who has no
// scripts reads both ends, and that the middle is left out.
func TestLongTexts(t *testing.T) {
	browserPath(t)
	word := strings.Repeat("w", 4000)
	long := "it begins here" + strings.Repeat(" and so on", 3000) + " in the middle " + strings.Repeat(" and so on", 3000) + " it ends here"
	url := written(t, func(x *teller) {
		r := x.root
		x.begin(r, "", "", word)
		x.prompt(r, word)
		j := x.background(r, call(1, "shell", args(map[string]string{"command": word, "mode": "background"})), word)
		id := x.exit(r, j, 0, word)
		x.ended(r, long, session.TurnAnswered)
		x.notified(r, id)
		x.ended(r, word, session.TurnAnswered, id)
	})
	b := browse(t)
	for _, width := range []int{400, 1400} {
		p := b.open(url, width, 900, true)
		p.until("all of it", asleep+` === 0`)
		wide := `[...document.querySelectorAll('body, #about, #list, #talk, #talk pre, #talk h3, #talk h4, #talk dd')].filter(e => e.getClientRects().length && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map(e => e.tagName + '#' + e.id + ' ' + e.scrollWidth + ' in ' + e.clientWidth).join()`
		if got := p.text(wide); got != "" {
			t.Errorf("in a window of %d pixels a long word makes wide: %s", width, got)
		}
		if n := p.number(`[...document.querySelectorAll('#talk pre')].filter(e => /w{3000}/.test(e.textContent) && e.getBoundingClientRect().height > 200).length`); n < 2 {
			t.Errorf("in a window of %d pixels %v long words wrap", width, n)
		}
	}
	p := b.open(url, 1200, 30_000, false)
	told := []string{"it begins here and so on", "and so on it ends here", "characters"}
	all := p.laidOut(told...)
	for _, words := range told {
		if !strings.Contains(all, words) {
			t.Errorf("without scripts nobody reads %q", words)
		}
	}
	if strings.Contains(all, "in the middle") {
		t.Error("without scripts the middle of a long text is shown")
	}
	if n := strings.Count(all, "and so on"); n*len(" and so on") > maxBody {
		t.Errorf("without scripts %d characters of a long text are shown, more than %d", n*len(" and so on"), maxBody)
	}
}
