package store_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"holdpoint/store"
)

func picture(w, h int) image.Image {
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	for i := range m.Pix {
		m.Pix[i] = uint8(i % 2)
	}
	return m
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, w, h int) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, picture(w, h)) })
}

func jpegOf(t testing.TB, w, h int) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, picture(w, h), nil) })
}

// webpOf is a WebP of one colour without loss: a header of 14 bits for each side.
func webpOf(w, h int) []byte {
	bits := uint32(w-1) | uint32(h-1)<<14
	body := append([]byte{0x2f}, binary.LittleEndian.AppendUint32(nil, bits)...)
	body = append(body, 0x07, 0x50, 0x68, 0x02, 0x08, 0x22, 0xfa, 0x9f)
	if len(body)%2 == 1 {
		body = append(body, 0)
	}
	chunk := append([]byte("VP8L"), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...)
	all := append([]byte("WEBP"), append(chunk, body...)...)
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(all)))...), all...)
}

const pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

// huge is a PNG whose header states a size and which holds next to nothing.
func huge(t testing.TB, w, h uint32) []byte {
	t.Helper()
	b := pngOf(t, 1, 1)
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

func zipped(t testing.TB) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error {
		w := zip.NewWriter(b)
		f, err := w.Create("bomb")
		if err == nil {
			_, err = f.Write(bytes.Repeat([]byte{0}, 1<<20))
		}
		if err == nil {
			err = w.Close()
		}
		return err
	})
}

// TestNewAttachment takes what is a picture or a document, and refuses all else with its reason.
func TestNewAttachment(t *testing.T) {
	t.Parallel()
	p := pngOf(t, 30, 20)
	tests := []struct {
		name string
		data []byte
		want string // media type, or the code of the refusal
	}{
		{"shot.png", p, "image/png"},
		{"shot.html", p, "image/png"}, // the name says nothing
		{"photo.jpg", jpegOf(t, 30, 20), "image/jpeg"},
		{"photo with a second picture.jpg", append(jpegOf(t, 30, 20), jpegOf(t, 5, 5)...), "image/jpeg"},
		{"shot.webp", webpOf(30, 20), "image/webp"},
		{"log.pdf", []byte(pdf), "application/pdf"},

		{"empty.png", nil, "file_empty"},
		{"large.png", make([]byte, store.FileLimit+1), "file_large"},
		{"polyglot.gif", []byte("GIF89a/*<script>*/=1;alert(1)"), "file_kind"},
		{"real.gif", encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, picture(4, 4), nil) }), "file_kind"},
		{"page.png", []byte("<!DOCTYPE html><script>alert(1)</script>"), "file_kind"},
		{"drawing.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), "file_kind"},
		{"drawing.png", []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), "file_kind"},
		{"bomb.zip", zipped(t), "file_kind"},
		{"page before.pdf", []byte("<script>x</script>%PDF-1.4 somewhere %%EOF"), "file_broken"},
		{"text before.pdf", []byte("see " + pdf), "file_broken"},
		{"script.png", []byte("#!/bin/sh\nrm -rf /"), "file_kind"},
		{"cut.png", p[:len(p)-8], "file_broken"},
		{"cut early.png", p[:20], "file_broken"},
		{"only the mark.png", p[:8], "file_broken"},
		{"archive behind.png", append(bytes.Clone(p), zipped(t)...), "file_broken"},
		{"page behind.png", append(bytes.Clone(p), "<script>alert(1)</script>"...), "file_broken"},
		{"cut.jpg", jpegOf(t, 30, 20)[:200], "file_broken"},
		{"no picture.jpg", []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00<script>"), "file_broken"},
		{"cut.webp", webpOf(30, 20)[:20], "file_broken"},
		{"page behind.webp", append(webpOf(30, 20), "<script>"...), "file_broken"},
		{"cut.pdf", []byte(pdf[:40]), "file_broken"},
		{"huge.png", huge(t, 100_000, 100_000), "file_pixels"},
		{"long.png", huge(t, 20_001, 1), "file_pixels"},
		{"wide as can be.png", huge(t, 20_000, 2_500), "image/png"},
		{"one pixel too many.png", huge(t, 20_000, 2_501), "file_pixels"},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			f, err := store.NewAttachment(x.name, x.data)
			got := f.Kind()
			var bad *store.Invalid
			if errors.As(err, &bad) {
				got = bad.Code
			}
			if got != x.want {
				t.Errorf("%s: %q (%v), want %q", x.name, got, err, x.want)
			}
		})
	}
}

// FuzzNewAttachment: whatever the bytes are, they are taken as one of the four kinds,
// unchanged and within the limits, or refused with a reason.
func FuzzNewAttachment(f *testing.F) {
	for _, seed := range [][]byte{pngOf(f, 3, 2), jpegOf(f, 3, 2), webpOf(3, 2), []byte(pdf), huge(f, 1<<31, 1<<31), []byte("GIF89a/*<script>"), zipped(f), nil,
		[]byte("\xff\xd8\xff\xff\xff\xff"), []byte("\x89PNG\r\n\x1a\n\xff\xff\xff\xffIDAT")} {
		f.Add("a.png", seed)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		a, err := store.NewAttachment(name, data)
		var bad *store.Invalid
		switch {
		case err == nil:
			if !strings.HasPrefix(a.Kind(), "image/") && a.Kind() != "application/pdf" || a.Size() != len(data) || bytes.HasPrefix(data, []byte("<")) {
				t.Errorf("took %q as %s", data, a.Kind())
			}
		case !errors.As(err, &bad) || bad.Code == "":
			t.Errorf("refused without a reason: %v", err)
		}
	})
}
