package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// field is one JSON field of a struct.
type field struct {
	name     string
	typ      string // as in Go
	optional bool   // left out when empty
	doc      string // its comment on the same line
}

// source is the parsed Go files of one folder.
type source struct {
	structs map[string]*ast.StructType
	docs    map[string]string // of a struct
	kinds   []kind
}

// kind is an event with its name in the journal, by its Kind method.
type kind struct{ name, typ string }

func parse(t *testing.T, dir string) source {
	t.Helper()
	noTests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	//lint:ignore SA1019 one folder without build constraints is all that is read here
	pkgs, err := parser.ParseDir(token.NewFileSet(), filepath.Join(root, dir), noTests, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s := source{structs: map[string]*ast.StructType{}, docs: map[string]string{}}
	for _, p := range pkgs {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				s.take(d)
			}
		}
	}
	return s
}

func (s *source) take(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			x, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if st, ok := x.Type.(*ast.StructType); ok {
				s.structs[x.Name.Name] = st
				s.docs[x.Name.Name] = strings.Join(strings.Fields(d.Doc.Text()), " ")
			}
		}
	case *ast.FuncDecl:
		if d.Name.Name != "Kind" || d.Recv == nil || d.Body == nil || len(d.Body.List) != 1 {
			return
		}
		recv, isName := d.Recv.List[0].Type.(*ast.Ident)
		ret, isReturn := d.Body.List[0].(*ast.ReturnStmt)
		if !isName || !isReturn || len(ret.Results) != 1 {
			return
		}
		if lit, ok := ret.Results[0].(*ast.BasicLit); ok {
			s.kinds = append(s.kinds, kind{strings.Trim(lit.Value, `"`), recv.Name})
		}
	}
}

// fields are the JSON fields of a struct, embedded ones of the same folder included.
func (s source) fields(t *testing.T, name string) (out []field) {
	t.Helper()
	st := s.structs[name]
	if st == nil {
		t.Fatalf("there is no struct %s", name)
	}
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 {
			typ := f.Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if own, ok := typ.(*ast.Ident); ok {
				out = append(out, s.fields(t, own.Name)...)
			}
			continue
		}
		if f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		json, options, _ := strings.Cut(tag.Get("json"), ",")
		if json == "-" || json == "" {
			continue
		}
		_, byCall := tag.Lookup("optional")
		out = append(out, field{json, typeText(f.Type), strings.HasPrefix(options, "omit") || byCall, strings.TrimSpace(f.Comment.Text())})
	}
	return out
}

func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeText(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + typeText(e.X)
	case *ast.ArrayType:
		return "[]" + typeText(e.Elt)
	case *ast.MapType:
		return "map"
	}
	return "?"
}

// differ says how two sets of names differ.
func differ(t *testing.T, where string, documented, real []string) {
	t.Helper()
	for _, n := range real {
		if !slices.Contains(documented, n) {
			t.Errorf("%s does not describe %s", where, n)
		}
	}
	for _, n := range documented {
		if !slices.Contains(real, n) {
			t.Errorf("%s describes %s, which does not exist", where, n)
		}
	}
}
