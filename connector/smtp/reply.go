package smtp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// refusal is a reply that ends the attempt before the final dot.
type refusal struct {
	code      string
	status    int
	text      string
	detail    string
	permanent bool
}

func (r *refusal) Error() string { return r.detail }

func refused(code string, status int, text, detail string) *refusal {
	return &refusal{
		code: code, status: status, text: text, permanent: status >= 500,
		detail: fmt.Sprintf("%s (%d).", detail, status),
	}
}

func (t *conversation) command(line string) error {
	_, err := t.conn.Write([]byte(line + "\r\n"))
	return err
}

// errNoReply: what was read is no reply of SMTP.
var errNoReply = errors.New("not a reply of a mail server")

// reply reads one reply of any number of lines; text joins them by line feeds. A line
// that does not end is no reply: its rest might have changed its meaning.
func (t *conversation) reply() (status int, text string, err error) {
	var lines []string
	for {
		line, err := t.in.ReadString('\n')
		if err != nil {
			return 0, "", err
		}
		line = strings.TrimRight(line, "\r\n")
		if len(line) < 3 {
			return 0, "", errNoReply
		}
		code, err := strconv.Atoi(line[:3])
		more := len(line) > 3 && line[3] == '-'
		switch {
		case err != nil, code < 200, code > 599,
			len(line) > 3 && line[3] != ' ' && !more,
			status != 0 && code != status:
			return 0, "", errNoReply
		}
		status = code
		lines = append(lines, line[min(len(line), 4):])
		if !more {
			return status, strings.Join(lines, "\n"), nil
		}
	}
}

func (t *conversation) expect(want int, code, detail string) error {
	status, text, err := t.reply()
	if err != nil {
		return err
	}
	if status != want {
		return refused(code, status, text, detail)
	}
	return nil
}
