package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// unsent classifies a request that got no answer at all.
func (m caller) unsent(ctx context.Context, err error) *failure {
	if cause := context.Cause(ctx); cause == errNoAnswer {
		return m.silent(cause)
	}
	f := &failure{err: m.scrub.faultf(Unavailable, 0, "%s: no connection: %v", m.where, reason(err)), again: true}
	f.err.Hint, f.again = m.connectHint(err)
	return f
}

// connectHint says what to do about a connection that did not come about, and
// whether another try may go better.
func (m caller) connectHint(err error) (hint string, again bool) {
	address := m.c.addressKey()
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		return "HTTP_PROXY or HTTPS_PROXY names this proxy; NO_PROXY lists the hosts to ask without one", true
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return m.certificateHint(bad), false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return "check the host in " + address, !dns.IsNotFound
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "write http:// in " + address, false
	}
	if strings.Contains(err.Error(), "malformed HTTP") || errors.Is(reason(err), errSpokeFirst) {
		return "what listens there speaks no HTTP; check " + address, false
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "what listens there speaks no TLS; write http:// in " + address, false
	}
	if net, ok := errors.AsType[net.Error](err); ok && net.Timeout() {
		return "check " + address + ", or raise " + m.c.key("model_connect_timeout_ms"), true
	}
	return "check that the server runs, and " + address, true
}

// certificateHint tells an unknown authority, which a setting helps, from a
// certificate that is wrong.
func (m caller) certificateHint(err error) string {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the certificate is for another name; write one of its names in " + m.c.addressKey()
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		return "the server's certificate, or the clock of this machine, is out of date"
	}
	return "set " + m.c.key("ca_file") + " to the certificate of the authority that signed the server's"
}

// errSpokeFirst stands for a peer whose bytes came before the request was on
// its way. net/http has no value for it, only the trace of a wrapped nil.
var errSpokeFirst = errors.New("the other side spoke before it was asked")

// reason is the cause of a failed request without the address around it.
func reason(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if strings.Contains(err.Error(), "readLoopPeekFailLocked: %!w(<nil>)") {
		return errSpokeFirst
	}
	return err
}
