package modmap

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
)

// The map's own units. Views stretch it to the room they have.
const (
	width, height = 1200, 860
	margin        = 3.0  // between a folder's frame and what is in it
	heading       = 19.0 // of a folder, for its name
	leastLines    = 45   // a shorter module has the area of this many lines, so that it can be seen and hit
)

// node is a folder while the map is laid out.
type node struct {
	path, name string
	modules    []int
	kids       []*node
	area       float64
}

// layOut gives every module its box and returns the folders' frames. It is a squarified treemap (Bruls, Huizing and van Wijk
// 2000): the area of a box is the module's lines, a folder lies around its modules, larger ones come first. The same modules
// give the same map.
func layOut(sources []*Source, modules []Module) []Folder {
	root := &node{}
	by := map[string]*node{"": root}
	for i, s := range sources {
		n := folder(by, s.dir)
		n.modules = append(n.modules, i)
	}
	root.tidy(modules)
	total := 0.0
	for i := range modules {
		total += lineArea(&modules[i])
	}
	// frames and headings take room too: how much a line gets follows from itself
	perLine := width * height / total
	for range 8 {
		perLine *= width * height / root.measure(modules, perLine)
	}
	folders := []Folder{}
	root.put(Box{0, 0, width, height}, modules, &folders)
	return folders
}

func folder(by map[string]*node, dir string) *node {
	if dir == "." {
		dir = ""
	}
	if n := by[dir]; n != nil {
		return n
	}
	up := folder(by, path.Dir(dir))
	n := &node{path: dir, name: path.Base(dir)}
	by[dir], up.kids = n, append(up.kids, n)
	return n
}

// tidy takes out folders that say nothing: one around a single folder, and one around a single module, whose box then has
// the folder's name.
func (n *node) tidy(modules []Module) {
	var kids []*node
	for _, k := range n.kids {
		k.tidy(modules)
		switch {
		case len(k.kids) == 0 && len(k.modules) == 1:
			only := &modules[k.modules[0]]
			if strings.TrimSuffix(only.Label, "/") == "__init__" {
				only.Label = k.name + "/"
			} else {
				only.Label = k.name + "/" + only.Label
			}
			n.modules = append(n.modules, k.modules[0])
		case len(k.kids) == 1 && len(k.modules) == 0:
			k.kids[0].name = k.name + "/" + k.kids[0].name
			kids = append(kids, k.kids[0])
		default:
			kids = append(kids, k)
		}
	}
	n.kids = kids
}

func lineArea(m *Module) float64 { return float64(max(m.Lines, leastLines)) }

// measure sets the area that a folder needs at so many units a line.
func (n *node) measure(modules []Module, perLine float64) float64 {
	inner := 0.0
	for _, i := range n.modules {
		inner += lineArea(&modules[i]) * perLine
	}
	for _, k := range n.kids {
		inner += k.measure(modules, perLine)
	}
	if n.path == "" {
		n.area = inner
		return inner
	}
	side := math.Sqrt(inner) // of a square; others need a little more or less
	n.area = inner + side*heading + 4*margin*side
	return n.area
}

// item is a folder or a module in a row of the layout.
type item struct {
	area   float64
	key    string
	kid    *node
	module int
}

// put lays a folder's content into a box.
func (n *node) put(in Box, modules []Module, folders *[]Folder) {
	if n.path != "" {
		at := len(*folders)
		*folders = append(*folders, Folder{Path: n.path, Name: n.name, Box: round(in)})
		in = Box{in[0] + margin, in[1] + margin, in[2] - 2*margin, in[3] - 2*margin}
		if in[2] > 34 && in[3] > 2*heading {
			(*folders)[at].Head = true
			in[1], in[3] = in[1]+heading-margin, in[3]-heading+margin
		}
	}
	items := make([]item, 0, len(n.kids)+len(n.modules))
	for _, k := range n.kids {
		items = append(items, item{k.area, k.path, k, -1})
	}
	for _, i := range n.modules {
		items = append(items, item{lineArea(&modules[i]), modules[i].Path, nil, i})
	}
	scaleModules(items, in)
	slices.SortFunc(items, func(a, b item) int {
		if c := cmp.Compare(b.area, a.area); c != 0 {
			return c
		}
		return strings.Compare(a.key, b.key)
	})
	for i, b := range squarify(items, in) {
		if k := items[i].kid; k != nil {
			k.put(Box{b[0] + 1, b[1] + 1, b[2] - 2, b[3] - 2}, modules, folders)
		} else {
			modules[items[i].module].Box = round(Box{b[0] + 0.75, b[1] + 0.75, b[2] - 1.5, b[3] - 1.5})
		}
	}
}

// scaleModules shares what folders leave of a box among the modules by their lines, but leaves folders at least their part.
func scaleModules(items []item, in Box) {
	kids, own := 0.0, 0.0
	for _, it := range items {
		if it.kid != nil {
			kids += it.area
		} else {
			own += it.area
		}
	}
	room := in[2] * in[3]
	if own == 0 || room <= 0 {
		return
	}
	// the folders' areas are in units of the map, the modules' still in lines
	perLine := (room - kids) / own
	if least := room * 0.1 / own; perLine < least {
		perLine = least
	}
	for i := range items {
		if items[i].kid == nil {
			items[i].area *= perLine
		}
	}
}

func round(b Box) Box {
	for i, v := range b {
		b[i] = math.Round(max(v, 0)*10) / 10
	}
	return b
}

// squarify cuts a box into one for each item, in their order, each with its part of the area and as square as may be.
func squarify(items []item, in Box) []Box {
	total := 0.0
	for _, it := range items {
		total += it.area
	}
	out := make([]Box, 0, len(items))
	scale := in[2] * in[3] / total
	for len(items) > 0 {
		short := min(in[2], in[3])
		n, row := 1, items[0].area*scale
		for n < len(items) && worst(items[:n+1], row+items[n].area*scale, scale, short) <= worst(items[:n], row, scale, short) {
			row += items[n].area * scale
			n++
		}
		out = append(out, strip(items[:n], row, scale, &in)...)
		items = items[n:]
	}
	return out
}

// worst is the largest ratio of sides in a row of this area along a side.
func worst(row []item, area, scale, side float64) float64 {
	least, most := math.Inf(1), 0.0
	for _, it := range row {
		least, most = min(least, it.area*scale), max(most, it.area*scale)
	}
	return max(side*side*most/(area*area), area*area/(side*side*least))
}

// strip lays a row along the short side of a box and takes it off the box.
func strip(row []item, area, scale float64, in *Box) []Box {
	var out []Box
	if in[2] >= in[3] { // a column on the left
		w, y := area/in[3], in[1]
		for _, it := range row {
			h := it.area * scale / w
			out = append(out, Box{in[0], y, w, h})
			y += h
		}
		in[0], in[2] = in[0]+w, in[2]-w
		return out
	}
	h, x := area/in[2], in[0]
	for _, it := range row {
		w := it.area * scale / h
		out = append(out, Box{x, in[1], w, h})
		x += w
	}
	in[1], in[3] = in[1]+h, in[3]-h
	return out
}
