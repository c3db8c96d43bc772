package handlers

import (
	"fmt"
	"strings"
	"testing"

	"holdpoint/views"
)

func TestMailLinksSayWhatIsReallyOpened(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		html, host, claims string
		warn               views.LinkWarning
	}{
		"ordinary":               {`<a href="https://shop.example/x">Your order</a>`, "shop.example", "", ""},
		"the same host in words": {`<a href="https://www.shop.example/x">shop.example</a>`, "www.shop.example", "", ""},
		"a host below it":        {`<a href="https://track.shop.example/x">shop.example</a>`, "track.shop.example", "", ""},
		"another host in words":  {`<a href="https://evil.test/x">www.bank.example/login</a>`, "evil.test", "www.bank.example", ""},
		"the host above it":      {`<a href="https://shop.example/x">pay.shop.example</a>`, "shop.example", "pay.shop.example", ""},
		"words in parts":         {`<a href="https://evil.test"><b>https://bank.</b><i>example</i></a>`, "evil.test", "bank.example", ""},
		"words of a picture":     {`<a href="https://evil.test"><img alt="bank.example" src="x"></a>`, "evil.test", "bank.example", ""},
		"a file name":            {`<a href="https://shop.example/i">invoice.pdf</a>`, "shop.example", "", ""},
		"sign-in part":           {`<a href="https://bank.example@evil.test/">here</a>`, "evil.test", "", views.LinkUserInfo},
		"sign-in part, encoded":  {`<a href="https://bank.example%2F@evil.test/">here</a>`, "evil.test", "", views.LinkUserInfo},
		"backslashes":            {`<a href="https:\\evil.test\bank.example">here</a>`, "evil.test", "", ""},
		"no slashes":             {`<a href="https:evil.test/bank.example">here</a>`, "evil.test", "", ""},
		"too many slashes":       {`<a href="https:////evil.test/">here</a>`, "evil.test", "", ""},
		"line ends inside":       {"<a href=\"ht\ntps://evil\t.test/\">here</a>", "evil.test", "", ""},
		"control before":         {"<a href=\"\x01 https://evil.test/\">here</a>", "evil.test", "", ""},
		"script":                 {`<a href="JaVaScRiPt:alert(1)">here</a>`, "", "", views.LinkScript},
		"script in pieces":       {"<a href=\"java\nscript:alert(1)\">here</a>", "", "", views.LinkScript},
		"data":                   {`<a href="data:text/html,x">here</a>`, "", "", views.LinkScript},
		"letters of elsewhere":   {`<a href="https://xn--bnk-2ra.example/">here</a>`, "xn--bnk-2ra.example", "", views.LinkForeign},
		"look-alike letters":     {"<a href=\"https://b\u0430nk.example/\">here</a>", "xn--bnk-6cd.example", "", views.LinkForeign},
		"full-width letters":     {"<a href=\"https://ｅvil.test/\">here</a>", "evil.test", "", ""},
		"turned around":          {"<a href=\"https://evil.test\u202E/\">here</a>", "", "", views.LinkBroken},
		"an IP address":          {`<a href="http://203.0.113.5/">here</a>`, "203.0.113.5", "", views.LinkAddress},
		"an IP address, hidden":  {`<a href="http://0xcb007105/">here</a>`, "0xcb007105", "", views.LinkAddress},
		"not encrypted":          {`<a href="http://shop.example/">here</a>`, "shop.example", "", views.LinkPlain},
		"without a scheme":       {`<a href="//evil.test/x">here</a>`, "evil.test", "", ""},
		"relative":               {`<a href="/x">here</a>`, "", "", views.LinkBroken},
		"relative to a base":     {`<base href="https://evil.test/"><a href="/x">bank.example</a>`, "evil.test", "bank.example", ""},
		"a mail address":         {`<a href="mailto:ann@shop.example">write to bank.example</a>`, "", "", ""},
		"in the same mail":       {`<a href="#top">up</a>`, "", "", ""},
		"an area":                {`<map><area href="https://evil.test/"></map>`, "evil.test", "", ""},
		"a form":                 {`<form action="https://evil.test/"><button>Go</button></form>`, "evil.test", "", ""},
		"never closed":           {`<a href="https://evil.test/">bank.example`, "evil.test", "bank.example", ""},
	} {
		t.Run(name, func(t *testing.T) {
			list, left := mailLinks(c.html, "")
			if len(list) != 1 || left != 0 {
				t.Fatalf("%d links and %d left: %+v", len(list), left, list)
			}
			if l := list[0]; l.Host != c.host || l.Claims != c.claims || l.Warning != c.warn {
				t.Errorf("host %q claims %q warning %q, want %q %q %q", l.Host, l.Claims, l.Warning, c.host, c.claims, c.warn)
			}
		})
	}
}

func TestMailLinksOfBothParts(t *testing.T) {
	t.Parallel()
	list, _ := mailLinks(`<a href="https://shop.example/a">A</a><a href="https://shop.example/a">A</a>`, "See https://shop.example/b, or (https://shop.example/c).")
	var got []string
	for _, l := range list {
		got = append(got, l.URL)
	}
	if s := strings.Join(got, " "); s != "https://shop.example/a https://shop.example/b https://shop.example/c" {
		t.Errorf("links %s", s)
	}
}

func TestManyLinksKeepTheDoubtfulOnes(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `<a href="https://shop.example/%d">link %d</a>`, i, i)
	}
	b.WriteString(`<a href="https://evil.test/">bank.example</a>`)
	list, left := mailLinks(b.String(), "")
	if len(list) != views.ShownRows || left != 5001-views.ShownRows || list[0].Claims != "bank.example" {
		t.Errorf("%d shown, %d left, first %+v", len(list), left, list[0])
	}
}
