package checkpoint

import (
	"errors"
	"fmt"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

var factory = &compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}

// Tree is the Merkle tree of RFC 6962 over the hashes of entries, of which it keeps the
// roots of its perfect subtrees only: at most 64 hashes, at any size.
type Tree struct {
	r     *compact.Range
	visit compact.VisitFn
}

// NewTree is the tree of no entries.
func NewTree() *Tree { return &Tree{r: factory.NewEmptyRange(0)} }

// RestoreTree gives the tree of size entries whose Frontier this is.
func RestoreTree(size uint64, frontier []byte) (*Tree, error) {
	if len(frontier)%32 != 0 {
		return nil, errors.New("the frontier is not made of hashes")
	}
	hashes := make([][]byte, 0, len(frontier)/32)
	for i := 0; i < len(frontier); i += 32 {
		hashes = append(hashes, frontier[i:i+32])
	}
	r, err := factory.NewRange(0, size, hashes)
	if err != nil {
		return nil, fmt.Errorf("the frontier does not fit %d entries: %w", size, err)
	}
	return &Tree{r: r}, nil
}

// Append adds an entry by its hash.
func (t *Tree) Append(entry [32]byte) error {
	leaf := rfc6962.DefaultHasher.HashLeaf(entry[:])
	if t.visit != nil {
		t.visit(compact.NewNodeID(0, t.r.End()), leaf)
	}
	return t.r.Append(leaf, t.visit)
}

// Size is the number of entries.
func (t *Tree) Size() uint64 { return t.r.End() }

// Root is the hash over all entries.
func (t *Tree) Root() ([32]byte, error) {
	if t.Size() == 0 {
		return [32]byte(rfc6962.DefaultHasher.EmptyRoot()), nil
	}
	root, err := t.r.GetRootHash(nil)
	if err != nil {
		return [32]byte{}, err
	}
	return [32]byte(root), nil
}

// Frontier is all that has to be kept to go on: 32 bytes for each perfect subtree.
func (t *Tree) Frontier() []byte {
	var b []byte
	for _, h := range t.r.Hashes() {
		b = append(b, h...)
	}
	return b
}

// Prover collects what proves that certain positions are in a tree, while all its
// entries pass once. It keeps a few hashes for each position, not the tree.
type Prover struct {
	tree  *Tree
	size  uint64
	want  map[uint64]proof.Nodes
	nodes map[compact.NodeID][]byte
}

// NewProver prepares proofs for positions in a tree of size entries.
func NewProver(size uint64, positions []uint64) (*Prover, error) {
	p := &Prover{tree: NewTree(), size: size, want: map[uint64]proof.Nodes{}, nodes: map[compact.NodeID][]byte{}}
	for _, at := range positions {
		n, err := proof.Inclusion(at, size)
		if err != nil {
			return nil, err
		}
		p.want[at] = n
		for _, id := range n.IDs {
			p.nodes[id] = nil
		}
	}
	p.tree.visit = func(id compact.NodeID, hash []byte) {
		if _, wanted := p.nodes[id]; wanted {
			p.nodes[id] = hash
		}
	}
	return p, nil
}

// Append passes the next entry; those beyond the size are not looked at.
func (p *Prover) Append(entry [32]byte) error {
	if p.tree.Size() == p.size {
		return nil
	}
	return p.tree.Append(entry)
}

// Root is the root over what has passed.
func (p *Prover) Root() ([32]byte, error) { return p.tree.Root() }

// Path gives the hashes that lead from one position to the root.
func (p *Prover) Path(position uint64) ([][32]byte, error) {
	n, ok := p.want[position]
	if !ok || p.tree.Size() != p.size {
		return nil, fmt.Errorf("no proof for position %d: %d of %d entries have passed", position, p.tree.Size(), p.size)
	}
	hashes := make([][]byte, len(n.IDs))
	for i, id := range n.IDs {
		if hashes[i] = p.nodes[id]; hashes[i] == nil {
			return nil, fmt.Errorf("a node of the proof for position %d is missing", position)
		}
	}
	path, err := n.Rehash(hashes, rfc6962.DefaultHasher.HashChildren)
	if err != nil {
		return nil, err
	}
	out := make([][32]byte, len(path))
	for i, h := range path {
		out[i] = [32]byte(h)
	}
	return out, nil
}

// Included checks that the entry with this hash is at the position of the tree with this
// size and root.
func Included(entry [32]byte, position, size uint64, root [32]byte, path [][32]byte) error {
	hashes := make([][]byte, len(path))
	for i := range path {
		hashes[i] = path[i][:]
	}
	return proof.VerifyInclusion(rfc6962.DefaultHasher, position, size, rfc6962.DefaultHasher.HashLeaf(entry[:]), hashes, root[:])
}
