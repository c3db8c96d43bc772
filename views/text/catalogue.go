package text

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed *.toml
var files embed.FS

// parts names the catalogue files of one language ("inbox.en.toml"): one for each room of
// the product, so that a sentence is found beside its neighbours.
func parts(lang string) []string {
	names, err := fs.Glob(files, "*."+lang+".toml")
	if err != nil {
		panic(err) // the pattern is constant
	}
	return names
}

// Languages lists the languages of the catalogues; the first is the default.
var Languages = []string{"en", "ja", "pl"}

// catalogue is the parsed message files. plain holds the sentences without
// parameters and plural forms, which need no template.
type catalogue struct {
	bundle *i18n.Bundle
	plain  map[string]map[string]string
	known  map[string]bool
}

var load = sync.OnceValue(func() *catalogue {
	c := &catalogue{
		bundle: i18n.NewBundle(language.English),
		plain:  map[string]map[string]string{},
		known:  map[string]bool{},
	}
	c.bundle.RegisterUnmarshalFunc("toml", toml.Unmarshal)
	for _, lang := range Languages {
		c.plain[lang] = map[string]string{}
		for _, name := range parts(lang) {
			c.read(name, lang)
		}
	}
	return c
})

// read adds the messages of one file.
func (c *catalogue) read(name, lang string) {
	f, err := c.bundle.LoadMessageFileFS(files, name)
	if err != nil {
		panic(fmt.Sprintf("message catalogue %s: %v", name, err)) // embedded: cannot happen in a tested build
	}
	for _, m := range f.Messages {
		c.known[m.ID] = true
		if m.One == "" && m.Few == "" && m.Many == "" && !strings.Contains(m.Other, "{{") {
			c.plain[lang][m.ID] = m.Other
		}
	}
}

// Has reports whether the catalogues know the key.
func Has(key string) bool { return load().known[key] }
