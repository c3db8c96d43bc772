package handlers

import (
	"strings"
	"testing"
)

func TestPreviewHasNoWaysOut(t *testing.T) {
	t.Parallel()
	got, err := withoutWaysOut(`<link rel=preconnect href="https://x.test"><base href="https://x.test"><meta http-equiv=refresh content="0;url=https://x.test"><script src="https://x.test"></script><style>p{color:red}</style><p style="color:blue">Hi <a HREF="https://x.test/1" target=_blank ping="https://x.test/2">link</a>
<map><area href="https://x.test/3"></map><form action="https://x.test/4"><button formaction="https://x.test/5">b</button></form>
<iframe src="https://x.test/8" srcdoc="https://x.test/9"></iframe><object data="https://x.test/10">fallback</object>
<noscript><a href="https://x.test/6">n</a></noscript><svg><style><a xlink:href="https://x.test/7">s</a></style></svg><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`)
	if err != nil || strings.Contains(got, "x.test") {
		t.Errorf("a way out is left: %s", got)
	}
	for _, stays := range []string{"p{color:red}", "fallback", `style="color:blue"`, "link", `src="data:image/gif`} {
		if !strings.Contains(got, stays) {
			t.Errorf("%s is gone: %s", stays, got)
		}
	}
	if _, err := withoutWaysOut(strings.Repeat("<div>", 5000) + `<link rel=preconnect href="https://x.test">`); err == nil {
		t.Error("what cannot be read is given as it is")
	}
}
